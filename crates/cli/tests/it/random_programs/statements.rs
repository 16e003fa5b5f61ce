//! Statements as lines of a source.

use super::dialect::Dialect;
use super::program::{
    BOX, Call, Collective, CollectiveKind, Completion, ENTRIES, End, Item, Library, Object, Operation, Part, Statement,
};

impl Dialect {
    /// Returns the line of an item.
    pub fn item(self, item: &Item) -> String {
        let body = self.statement(&item.statement);
        item.guard.as_ref().map_or_else(|| body.clone(), |guard| self.guarded(&self.guard(guard), &body))
    }

    fn count(self, part: &Part) -> String {
        self.expression(&part.count)
    }

    pub fn statement(self, statement: &Statement) -> String {
        match statement {
            Statement::Fill { part, seed, from } => {
                let mut value = format!("k * {} + i * {} + {seed}", 7 + seed % 11, 3 + seed % 5);
                if let Some(from) = from {
                    let index = self.modulo("i", from.least);
                    value += &format!(" + 5 * {}", self.entry(from, &index));
                }
                let to = self.entry(part, "i");
                self.each("i", &self.count(part), &self.assign(&to, &self.limited(&value)))
            }
            Statement::Use(part) => self.each("i", &self.count(part), &self.check(&self.entry(part, "i"))),
            Statement::Sum { part, index } => {
                let count = self.count(part);
                let at = match index {
                    Some(index) => format!("({}) * {count} + i", self.expression(index)),
                    None => "i".to_owned(),
                };
                self.each("i", &count, &self.sum(&self.entry(part, &at), "i"))
            }
            Statement::SumIndexed { part, count } => {
                let index = self.at(Object::Indices, "j");
                let index = if self.is_c() { index } else { format!("({index} - 1)") };
                let length = self.count(part);
                let at = format!("{index} * {length} + i");
                let inner = self.each("i", &length, &self.sum(&self.entry(part, &at), "i"));
                self.each("j", &self.expression(count), &inner)
            }
            Statement::Work(times) => {
                let (to, times) = (if self.is_c() { "g[i]" } else { "g(i)" }, times.to_string());
                let inner = self.assign(to, &self.limited(&format!("{to} * 3 + j")));
                self.each("j", &times, &self.each("i", "64", &inner))
            }
            Statement::Set { variable, value } => self.assign(&format!("v{variable}"), &self.expression(value)),
            Statement::Copy { to, from } => self.copy(to, from),
            Statement::Library(library, part) => self.library(*library, part),
            Statement::Allocate { heap, entries } => match self.is_c() {
                true => format!("h{heap} = malloc({entries} * sizeof(int));"),
                false => format!("allocate(h{heap}(0:{}))", entries - 1),
            },
            Statement::Reallocate { heap, entries } => match self.is_c() {
                true => format!("h{heap} = realloc(h{heap}, {entries} * sizeof(int));"),
                false => format!("deallocate(h{heap}); allocate(h{heap}(0:{}))", entries - 1),
            },
            Statement::Free { heap } => match self.is_c() {
                true => format!("free(h{heap});"),
                false => format!("deallocate(h{heap})"),
            },
            Statement::ScopeOpen { scope, entries } => match self.is_c() {
                true => format!("{{ int t{scope}[{entries}];"),
                false => format!("block; integer :: t{scope}(0:{})", entries - 1),
            },
            Statement::ScopeClose { .. } => if self.is_c() { "}" } else { "end block" }.to_owned(),
            Statement::Pack { part, position } => {
                let [buffer, count, datatype] = self.message(part);
                let arguments =
                    [buffer, count, datatype, self.packed(), self.bytes(), self.variable(*position), "w".into()];
                self.mpi("Pack", &arguments, None)
            }
            Statement::Unpack { part, position } => {
                let [buffer, count, datatype] = self.message(part);
                let arguments =
                    [self.packed(), self.bytes(), self.variable(*position), buffer, count, datatype, "w".into()];
                self.mpi("Unpack", &arguments, None)
            }
            Statement::ReduceLocal { from, to } => {
                let [buffer, count, datatype] = self.message(from);
                self.mpi("Reduce_local", &[buffer, self.buffer(to), count, datatype, "MPI_BXOR".into()], None)
            }
            Statement::Count { status, variable } => {
                let datatype = if self.is_c() { "MPI_INT" } else { "MPI_INTEGER" }.to_owned();
                self.mpi("Get_count", &[self.status(Some(*status)), datatype, self.variable(*variable)], None)
            }
            Statement::Call(call) => self.transfer(call),
            Statement::Start(requests) => match requests.as_slice() {
                [one] => self.mpi("Start", &[self.request(*one)], None),
                [first, ..] => {
                    let count = requests.len();
                    self.mpi("Startall", &[count.to_string(), self.requests(*first, count)], None)
                }
                [] => unreachable!("something is started"),
            },
            Statement::Complete { completion, requests, status, code } => {
                self.completion(completion, requests, *status, *code)
            }
            Statement::Probe { peer, tag, status, polling } => {
                let (peer, tag, status) = (self.expression(peer), self.expression(tag), self.status(Some(*status)));
                if !polling {
                    return self.mpi("Probe", &[peer, tag, "w".into(), status], None);
                }
                self.until_flag(&self.mpi("Iprobe", &[peer, tag, "w".into(), self.address("flag"), status], None))
            }
            Statement::Put { part, target, offset } => {
                let [buffer, count, datatype] = self.message(part);
                let target = target.to_string();
                let lock = ["MPI_LOCK_EXCLUSIVE".into(), target.clone(), "0".into(), "win".into()];
                let there = if self.is_c() { offset.to_string() } else { format!("int({offset}, MPI_ADDRESS_KIND)") };
                let put =
                    [buffer, count.clone(), datatype.clone(), target.clone(), there, count, datatype, "win".into()];
                self.chain(&[
                    self.mpi("Win_lock", &lock, None),
                    self.mpi("Put", &put, None),
                    self.mpi("Win_unlock", &[target, "win".into()], None),
                ])
            }
            Statement::Places { counts, places } => {
                let sum = format!("{} + {}", self.entry(places, "i - 1"), self.entry(counts, "i - 1"));
                let rest = match self.is_c() {
                    true => format!("for (i = 1; i < size; i++) {}", self.assign(&self.entry(places, "i"), &sum)),
                    false => format!("do i = 1, size - 1; {}; end do", self.assign(&self.entry(places, "i"), &sum)),
                };
                self.chain(&[self.assign(&self.entry(places, "0"), "0"), rest])
            }
        }
    }

    fn packed(self) -> String {
        self.address(&self.at(Object::Array(BOX), "0"))
    }

    fn bytes(self) -> String {
        (4 * ENTRIES).to_string()
    }

    fn variable(self, variable: usize) -> String {
        self.address(&format!("v{variable}"))
    }

    fn until_flag(self, body: &str) -> String {
        match self.is_c() {
            true => format!("for (flag = 0; !flag;) {{ {body} }}"),
            false => format!("flag = .false.; do while (.not. flag); {body}; end do"),
        }
    }

    fn copy(self, to: &Part, from: &Part) -> String {
        match (self.is_c(), from.count.known()) {
            (true, _) => {
                format!("memcpy({}, {}, {} * sizeof(int));", self.buffer(to), self.buffer(from), self.count(from))
            }
            (false, Some(count)) => {
                let section =
                    |part: &Part| self.at(part.object, &format!("{}:{}", part.offset, part.offset + count - 1));
                format!("{} = {}", section(to), section(from))
            }
            (false, None) => {
                self.each("i", &self.count(from), &self.assign(&self.entry(to, "i"), &self.entry(from, "i")))
            }
        }
    }

    fn library(self, library: Library, part: &Part) -> String {
        let (first, count) = (part.offset, part.least);
        let section = || self.at(part.object, &format!("{first}:{}", first + count - 1));
        let buffer = self.buffer(part);
        match (library, self.is_c()) {
            (Library::Sort, true) => format!("qsort({buffer}, {count}, sizeof(int), compare);"),
            (Library::Sort, false) => {
                format!("{} = {}", section(), self.at(part.object, &format!("{}:{first}:-1", first + count - 1)))
            }
            (Library::Print, true) => {
                format!("sprintf(text, \"%d %d\", {}, {});", self.entry(part, "0"), self.entry(part, "1"))
            }
            (Library::Print, false) => {
                format!("write(text, '(2i8)') {}", self.at(part.object, &format!("{first}:{}", first + 1)))
            }
            (Library::Scan, true) => {
                format!("sscanf(text, \"%d %d\", {buffer}, {});", self.address(&self.entry(part, "1")))
            }
            (Library::Scan, false) => {
                format!("read(text, '(2i8)') {}", self.at(part.object, &format!("{first}:{}", first + 1)))
            }
            (Library::Save, true) => format!("rewind(file); fwrite({buffer}, sizeof(int), {count}, file);"),
            (Library::Save, false) => format!("rewind(10); write(10) {}", section()),
            (Library::Load, true) => {
                format!("rewind(file); if (!fread({buffer}, sizeof(int), {count}, file)) abort();")
            }
            (Library::Load, false) => format!("rewind(10); read(10) {}", section()),
            (Library::Thread, _) => {
                format!(
                    "job = (struct job){{{buffer}, {count}, k}}; pthread_create(&thread, 0, filler, &job); pthread_join(thread, 0);"
                )
            }
            (Library::Signal, _) => format!("job = (struct job){{{buffer}, {count}, k}}; raise(SIGUSR1);"),
        }
    }

    fn completion(
        self,
        completion: &Completion,
        requests: &[usize],
        status: Option<usize>,
        code: Option<usize>,
    ) -> String {
        let (first, count) = (requests[0], requests.len());
        let all = || [count.to_string(), self.requests(first, count)];
        let with = |more: Vec<String>| all().into_iter().chain(more).collect::<Vec<_>>();
        match completion {
            Completion::Wait => self.mpi("Wait", &[self.request(first), self.status(status)], code),
            Completion::Test => {
                let test = [self.request(first), self.address("flag"), self.status(status)];
                self.until_flag(&self.mpi("Test", &test, code))
            }
            Completion::All => self.mpi("Waitall", &with(vec![self.statuses(status, count)]), code),
            Completion::Any(index) => {
                self.mpi("Waitany", &with(vec![self.variable(*index), self.status(status)]), code)
            }
            Completion::Some(number) => {
                let ids = "ids".to_owned();
                self.mpi("Waitsome", &with(vec![self.variable(*number), ids, self.statuses(status, count)]), code)
            }
        }
    }

    fn end(self, end: &End) -> Vec<String> {
        let mut arguments = self.message(&end.part).to_vec();
        arguments.extend([self.expression(&end.peer), self.expression(&end.tag)]);
        arguments
    }

    /// Returns a call that moves data.
    pub fn transfer(self, call: &Call) -> String {
        self.named(call, if call.request.is_some() { Form::NonBlocking } else { Form::Blocking })
    }

    /// Returns the call that makes a persistent request.
    pub fn persistent(self, call: &Call) -> String {
        self.named(call, Form::Persistent)
    }

    fn named(self, call: &Call, form: Form) -> String {
        let comm = if call.half { "half" } else { "w" }.to_owned();
        let (name, mut arguments, status) = match &call.operation {
            Operation::Send { end, synchronous } => {
                (if *synchronous { "ssend" } else { "send" }.to_owned(), self.end(end), false)
            }
            Operation::Receive(end) => ("recv".to_owned(), self.end(end), true),
            Operation::Exchange { send, receive } => {
                let mut arguments = self.end(send);
                arguments.extend(self.end(receive));
                ("sendrecv".to_owned(), arguments, true)
            }
            Operation::Replace { send, receive } => {
                let mut arguments = self.end(send);
                arguments.extend([self.expression(&receive.peer), self.expression(&receive.tag)]);
                ("sendrecv_replace".to_owned(), arguments, true)
            }
            Operation::Collective(collective) => {
                let (name, arguments) = self.collective(collective);
                (name.to_owned(), arguments, false)
            }
        };
        arguments.push(comm);
        let (name, blocking) = match form {
            Form::Blocking => (capital(&name), true),
            Form::NonBlocking => (format!("I{name}"), false),
            Form::Persistent => (format!("{}_init", capital(&name)), false),
        };
        if blocking && status {
            arguments.push(self.status(call.status));
        }
        if !blocking {
            arguments.push(self.request(call.request.expect("it does not block")));
        }
        self.mpi(&name, &arguments, call.code)
    }

    fn collective(self, collective: &Collective) -> (&'static str, Vec<String>) {
        let Collective { kind, input, output, root, counts, .. } = collective;
        let [out, count, datatype] = self.message(output);
        let from = input.as_ref().map_or("MPI_IN_PLACE".to_owned(), |part| self.buffer(part));
        let given = input.as_ref().map_or("0".to_owned(), |part| self.count(part));
        let op = "MPI_BXOR".to_owned();
        match kind {
            CollectiveKind::Barrier => ("barrier", Vec::new()),
            CollectiveKind::Allreduce => ("allreduce", vec![from, out, count, datatype, op]),
            CollectiveKind::Scan => ("scan", vec![from, out, count, datatype, op]),
            CollectiveKind::Reduce => ("reduce", vec![from, out, count, datatype, op, root.to_string()]),
            CollectiveKind::Bcast => ("bcast", vec![out, count, datatype, root.to_string()]),
            CollectiveKind::Allgather => ("allgather", vec![from, given, datatype.clone(), out, count, datatype]),
            CollectiveKind::Alltoall => ("alltoall", vec![from, count.clone(), datatype.clone(), out, count, datatype]),
            CollectiveKind::Allgatherv => {
                let array = |(object, first): (Object, usize)| match self.is_c() {
                    true => self.address(&self.at(object, &first.to_string())),
                    false => self.at(object, &format!("{first}:{}", first + 3)),
                };
                let [counts, places] = counts.expect("it has counts").map(array);
                ("allgatherv", vec![from, given, datatype.clone(), out, counts, places, datatype])
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Form {
    Blocking,
    NonBlocking,
    Persistent,
}

fn capital(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

//! Forms in which Hayase reads its tables and writes its reports, as attributes of types.
//!
//! * [`macro@spec`]: a table of a scenario, read and written;
//! * [`macro@report`]: a part of a report, written;
//! * [`macro@Named`]: choices with names.
//!
//! Both attributes derive the common traits of such types, and those named in parentheses: `#[report(Copy,
//! Eq)]`. A field of type `Option` is left out if it has no value; `#[always]` above it writes `null`
//! instead.
//!
//! Both also derive `crate::JsonSchema`: that of schemars if a crate tests its schema, otherwise the one of
//! this crate.

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Field, Ident, LitStr, Meta, Token, Type, parse_quote};

/// Reads and writes a table of a scenario: keys are kebab-case, and unknown ones are mistakes.
///
/// With `#[spec(partial)]` each key may be missing, and then has the value of the type's `Default`. Names of
/// the choices of an enumeration are kebab-case as well.
#[proc_macro_attribute]
pub fn spec(arguments: TokenStream, item: TokenStream) -> TokenStream {
    formed(arguments, item, |arguments, data| {
        let partial = arguments.iter().any(|argument| argument == "partial").then(|| quote!(, default));
        let attributes: Vec<Attribute> = match data {
            Data::Enum(_) => vec![parse_quote!(#[serde(rename_all = "kebab-case")])],
            _ => vec![parse_quote!(#[serde(deny_unknown_fields, rename_all = "kebab-case" #partial)])],
        };
        arguments.retain(|argument| argument != "partial");
        arguments.push(parse_quote!(Deserialize));
        attributes
    })
}

/// Writes a part of a report: fields by their names; choices of an enumeration are kebab-case.
#[proc_macro_attribute]
pub fn report(arguments: TokenStream, item: TokenStream) -> TokenStream {
    formed(arguments, item, |_, data| match data {
        Data::Enum(_) => vec![parse_quote!(#[serde(rename_all = "kebab-case")])],
        _ => Vec::new(),
    })
}

/// Derives nothing: stands for `schemars::JsonSchema` if no schema is wanted.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn no_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Names the choices of an enumeration: `name()` is kebab-case, or the name in `#[name("...")]` above a
/// choice. If no choice holds a value, `ALL` lists them.
#[proc_macro_derive(Named, attributes(name))]
pub fn named(item: TokenStream) -> TokenStream {
    let item = syn::parse_macro_input!(item as DeriveInput);
    let Data::Enum(data) = &item.data else {
        return syn::Error::new_spanned(&item.ident, "only an enumeration has choices").into_compile_error().into();
    };
    let choices: Vec<&Ident> = data.variants.iter().map(|choice| &choice.ident).collect();
    let said = |attributes: &[Attribute]| {
        let name = attributes.iter().find(|attribute| attribute.path().is_ident("name"))?;
        name.parse_args::<LitStr>().ok().map(|name| name.value())
    };
    let names = data.variants.iter().map(|choice| said(&choice.attrs).unwrap_or_else(|| kebab(&choice.ident)));
    let (enumeration, count) = (&item.ident, choices.len());
    let is_plain = data.variants.iter().all(|choice| choice.fields.is_empty());
    let this = if is_plain { quote!(self) } else { quote!(&self) };
    let all = is_plain.then(|| {
        quote! {
            /// All choices, in their order.
            #[allow(dead_code, reason = "not all are asked for")]
            pub const ALL: [Self; #count] = [#(Self::#choices),*];
        }
    });
    quote! {
        impl #enumeration {
            #all
            /// Returns the name in its written form.
            pub fn name(#this) -> &'static str {
                match self {
                    #(Self::#choices { .. } => #names,)*
                }
            }
        }
    }
    .into()
}

/// Returns a name in kebab-case: `max-min` for `MaxMin`.
fn kebab(name: &Ident) -> String {
    let mut kebab = String::new();
    for letter in name.to_string().chars() {
        if letter.is_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.extend(letter.to_lowercase());
    }
    kebab
}

/// Adds the derives of all forms, those of the arguments, the attributes of one form, and those of optional fields.
fn formed(
    arguments: TokenStream,
    item: TokenStream,
    form: impl FnOnce(&mut Vec<Ident>, &Data) -> Vec<Attribute>,
) -> TokenStream {
    let read = || -> syn::Result<(DeriveInput, Punctuated<Ident, Token![,]>)> {
        Ok((syn::parse(item)?, Punctuated::parse_terminated.parse(arguments)?))
    };
    let (mut item, arguments) = match read() {
        Ok(read) => read,
        Err(mistake) => return mistake.into_compile_error().into(),
    };
    let mut derived: Vec<Ident> = arguments.into_iter().collect();
    let attributes = form(&mut derived, &item.data);
    let derived = derived.iter().map(|name| match name == "Deserialize" {
        true => quote!(::serde::Deserialize),
        false => quote!(#name),
    });
    item.attrs.splice(0..0, attributes);
    // The content of an attribute of a derive is known from the derive on.
    let derive = quote!(Clone, PartialEq, Debug, ::serde::Serialize, crate::JsonSchema #(, #derived)*);
    item.attrs.insert(0, parse_quote!(#[derive(#derive)]));
    match &mut item.data {
        Data::Struct(data) => data.fields.iter_mut().for_each(leave_out),
        Data::Enum(data) => data.variants.iter_mut().flat_map(|variant| &mut variant.fields).for_each(leave_out),
        Data::Union(_) => {}
    }
    quote!(#item).into()
}

/// Leaves out a field of type `Option` if it has no value, unless an attribute says otherwise.
fn leave_out(field: &mut Field) {
    let count = field.attrs.len();
    field.attrs.retain(|attribute| !attribute.path().is_ident("always"));
    let mut of = &field.ty;
    while let Type::Group(group) = of {
        of = &group.elem;
    }
    let is_optional = match of {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Option"),
        _ => false,
    };
    let says = |attribute: &Attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("serde") && list.tokens.to_string().contains("skip"),
        _ => false,
    };
    if is_optional && field.attrs.len() == count && !field.attrs.iter().any(says) {
        field.attrs.push(parse_quote!(#[serde(skip_serializing_if = "::core::option::Option::is_none")]));
    }
}

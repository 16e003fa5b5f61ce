C     A wave of dependences that runs over a grid, as in the LU benchmark: every point needs its neighbours to the
C     west and to the north. The columns are split over the ranks, who work one behind the other: when a rank is done with
C     some rows, it passes the last column of these to its eastern neighbour and takes up the next rows. Then the wave
C     comes back from the other corner. Fixed form, mpif.h.
C
C         wavefront [N [SWEEPS]]      N x N points of five numbers (default 240), SWEEPS there and back (default 10)
C
C     The recurrence is chosen so that its solution is known: after each wave a number is its sweep times (i + j).
      PROGRAM WAVES
      IMPLICIT NONE
      INCLUDE 'mpif.h'
C     Rows to pass at once: few make the pipeline fill quickly, many make fewer messages.
      INTEGER BLOCK, M
      PARAMETER (BLOCK = 16, M = 5)
      INTEGER RANK, RANKS, WEST, EAST, FIRST, LAST, N, SWEEPS, SWEEP
      INTEGER ROW, UPTO, COLS, IERROR, NUMBER
      DOUBLE PRECISION STARTED, BEGUN, TOOK, MINE, ERROR, WORST
      CHARACTER*20 TEXT(2)
      DOUBLE PRECISION, ALLOCATABLE :: U(:, :, :)
      EXTERNAL NUMBER

      CALL MPI_INIT(IERROR)
      STARTED = MPI_WTIME()
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, IERROR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, RANKS, IERROR)
      N = NUMBER(1, 240)
      SWEEPS = NUMBER(2, 10)
      FIRST = N*RANK/RANKS + 1
      LAST = N*(RANK + 1)/RANKS
      COLS = LAST - FIRST + 1
      WEST = RANK - 1
      IF (RANK .EQ. 0) WEST = MPI_PROC_NULL
      EAST = RANK + 1
      IF (RANK .EQ. RANKS - 1) EAST = MPI_PROC_NULL
C     U(component, row, column): a piece of a column lies together in memory. The rim around the grid is known.
      ALLOCATE (U(M, 0:N + 1, 0:COLS + 1))
      U = 0

      CALL MPI_BARRIER(MPI_COMM_WORLD, IERROR)
      BEGUN = MPI_WTIME()
      ERROR = 0
      DO SWEEP = 1, SWEEPS
         CALL RIM(U, N, COLS, FIRST, SWEEP)
         DO ROW = 1, N, BLOCK
            UPTO = MIN(ROW + BLOCK - 1, N)
            CALL MPI_RECV(U(1, ROW, 0), M*(UPTO - ROW + 1),
     &           MPI_DOUBLE_PRECISION, WEST, 1, MPI_COMM_WORLD,
     &           MPI_STATUS_IGNORE, IERROR)
            CALL SOUTHEAST(U, N, COLS, ROW, UPTO, SWEEP)
            CALL MPI_SEND(U(1, ROW, COLS), M*(UPTO - ROW + 1),
     &           MPI_DOUBLE_PRECISION, EAST, 1, MPI_COMM_WORLD, IERROR)
         END DO
         ERROR = MAX(ERROR, WORST(U, N, COLS, FIRST, SWEEP))
         DO UPTO = N, 1, -BLOCK
            ROW = MAX(UPTO - BLOCK + 1, 1)
            CALL MPI_RECV(U(1, ROW, COLS + 1), M*(UPTO - ROW + 1),
     &           MPI_DOUBLE_PRECISION, EAST, 2, MPI_COMM_WORLD,
     &           MPI_STATUS_IGNORE, IERROR)
            CALL NORTHWEST(U, N, COLS, ROW, UPTO, SWEEP)
            CALL MPI_SEND(U(1, ROW, 1), M*(UPTO - ROW + 1),
     &           MPI_DOUBLE_PRECISION, WEST, 2, MPI_COMM_WORLD, IERROR)
         END DO
         ERROR = MAX(ERROR, WORST(U, N, COLS, FIRST, SWEEP))
      END DO
      TOOK = MPI_WTIME() - BEGUN

      MINE = ERROR
      CALL MPI_ALLREDUCE(MINE, ERROR, 1, MPI_DOUBLE_PRECISION, MPI_MAX,
     &     MPI_COMM_WORLD, IERROR)
      IF (RANK .EQ. 0) THEN
         WRITE (TEXT(1), '(F20.6)') TOOK
         WRITE (TEXT(2), '(F20.6)') MPI_WTIME() - STARTED
         WRITE (*, 900) N, SWEEPS, RANKS, ERROR, TRIM(ADJUSTL(TEXT(1))),
     &        TRIM(ADJUSTL(TEXT(2))), TRIM(MERGE('ok    ', 'FAILED',
     &        ERROR .LT. 1D-12))
      END IF
  900 FORMAT ('wavefront n=', I0, ' sweeps=', I0, ' ranks=', I0,
     &     ' residual=', ES8.2, ' time=', A, ' total=', A, ' ', A)
      CALL MPI_FINALIZE(IERROR)
      IF (.NOT. ERROR .LT. 1D-12) STOP 1
      END

C     Known values around the grid, nonsense inside: a wave that leaves out a point is found out.
      SUBROUTINE RIM(U, N, COLS, FIRST, SWEEP)
      IMPLICIT NONE
      INTEGER N, COLS, FIRST, SWEEP, I, J, C
      DOUBLE PRECISION U(5, 0:N + 1, 0:COLS + 1)
      DO J = 0, COLS + 1
         DO I = 0, N + 1, N + 1
            DO C = 1, 5
               U(C, I, J) = DBLE(C)*SWEEP*(I + FIRST + J - 1)
            END DO
         END DO
      END DO
      DO I = 1, N
         DO C = 1, 5
            U(C, I, 0) = DBLE(C)*SWEEP*(I + FIRST - 1)
            U(C, I, COLS + 1) = DBLE(C)*SWEEP*(I + FIRST + COLS)
            DO J = 1, COLS
               U(C, I, J) = -1
            END DO
         END DO
      END DO
      END

C     Rows ROW to UPTO, each point from its western and its northern neighbour.
      SUBROUTINE SOUTHEAST(U, N, COLS, ROW, UPTO, SWEEP)
      IMPLICIT NONE
      INTEGER N, COLS, ROW, UPTO, SWEEP, I, J, C
      DOUBLE PRECISION U(5, 0:N + 1, 0:COLS + 1)
      DO J = 1, COLS
         DO I = ROW, UPTO
            DO C = 1, 5
               U(C, I, J) = 0.5D0*(U(C, I, J - 1) + U(C, I - 1, J)
     &              + 2*C*SWEEP)
            END DO
         END DO
      END DO
      END

C     The same backwards, from the eastern and the southern neighbour.
      SUBROUTINE NORTHWEST(U, N, COLS, ROW, UPTO, SWEEP)
      IMPLICIT NONE
      INTEGER N, COLS, ROW, UPTO, SWEEP, I, J, C
      DOUBLE PRECISION U(5, 0:N + 1, 0:COLS + 1)
      DO J = COLS, 1, -1
         DO I = UPTO, ROW, -1
            DO C = 1, 5
               U(C, I, J) = 0.5D0*(U(C, I, J + 1) + U(C, I + 1, J)
     &              - 2*C*SWEEP)
            END DO
         END DO
      END DO
      END

C     The largest relative difference from the known solution.
      DOUBLE PRECISION FUNCTION WORST(U, N, COLS, FIRST, SWEEP)
      IMPLICIT NONE
      INTEGER N, COLS, FIRST, SWEEP, I, J, C
      DOUBLE PRECISION U(5, 0:N + 1, 0:COLS + 1), KNOWN
      WORST = 0
      DO J = 1, COLS
         DO I = 1, N
            DO C = 1, 5
               KNOWN = DBLE(C)*SWEEP*(I + FIRST + J - 1)
               WORST = MAX(WORST, ABS(U(C, I, J) - KNOWN)/KNOWN)
            END DO
         END DO
      END DO
      END

      INTEGER FUNCTION NUMBER(PLACE, DEFAULT)
      IMPLICIT NONE
      INTEGER PLACE, DEFAULT
      CHARACTER*32 TEXT
      NUMBER = DEFAULT
      IF (COMMAND_ARGUMENT_COUNT() .GE. PLACE) THEN
         CALL GET_COMMAND_ARGUMENT(PLACE, TEXT)
         READ (TEXT, *) NUMBER
      END IF
      END

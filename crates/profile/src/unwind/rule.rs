//! Computes the caller's registers from those in a function, by one row of a table or by frame pointers.
//!
//! The *canonical frame address* (CFA) is the stack pointer of the caller at the call: the return address and saved registers lie
//! at fixed distances from it. Source: DWARF 5, 6.4.1. Expressions are programs that a file brings: the steps of each are
//! bounded, and they see three registers and the copied part of the stack.

use super::table::{FrameSection, RowOrigin, UnwindTable};
use crate::registers::{self, UserRegisters, plain_code};
use gimli::{
    CfaRule, Encoding, EndianSlice, EvaluationResult, Expression, Format, LittleEndian, Register,
    RegisterRule, UnwindExpression, UnwindTableRow, Value,
};

/// Maximum number of steps of an expression. Those that compilers write have about ten.
const STEPS_MAX: u32 = 256;

/// How expressions are encoded: those of frames refer to nothing that has another size in other versions.
const ENCODING: Encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 4 };

/// How to get to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnwindRule {
    cfa: CfaRule<usize>,
    return_address: Saved,
    frame: Saved,
    /// Where its expressions are.
    section: FrameSection,
    /// It was called by the kernel to handle a signal: its caller was interrupted, and called nothing.
    pub(super) is_signal: bool,
}

/// Where the value that a register has in the caller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saved {
    /// Still in the register.
    Kept,
    /// In the stack, this far from the CFA.
    At(i64),
    /// In the stack, where an expression says.
    AtExpression(UnwindExpression<usize>),
    /// Nowhere: of the return address, this is how the first function of a program or thread says so.
    Undefined,
    /// In a way that is not followed.
    Unknown,
}

impl Saved {
    /// Of a register that a row does not mention, compilers mean that it is kept.
    fn of(rule: Option<RegisterRule<usize>>) -> Saved {
        match rule {
            None | Some(RegisterRule::SameValue) => Saved::Kept,
            Some(RegisterRule::Offset(offset)) => Saved::At(offset),
            Some(RegisterRule::Expression(expression)) => Saved::AtExpression(expression),
            Some(RegisterRule::Undefined) => Saved::Undefined,
            Some(_) => Saved::Unknown,
        }
    }
}

/// Where a rule leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// To a caller with these registers.
    Known(UserRegisters),
    /// To none: the program or thread begins here.
    Beginning,
    /// Out of the copied part of the stack, or to what makes no sense.
    Unknown,
}

impl UnwindRule {
    pub(super) fn of_row(row: &UnwindTableRow<usize>, origin: RowOrigin) -> UnwindRule {
        let RowOrigin { section, is_signal } = origin;
        UnwindRule {
            cfa: row.cfa().clone(),
            return_address: Saved::of(row.register(registers::RETURN)),
            frame: Saved::of(row.register(registers::FRAME)),
            section,
            is_signal,
        }
    }

    /// The caller of code that keeps a frame pointer: the saved one lies where it points to, and the return address above it.
    pub(super) fn of_frame_pointer() -> UnwindRule {
        UnwindRule {
            cfa: CfaRule::RegisterAndOffset { register: registers::FRAME, offset: 16 },
            return_address: Saved::At(-8),
            frame: Saved::At(-16),
            section: FrameSection::Eh,
            is_signal: false,
        }
    }

    /// The caller of a function that has touched neither the stack nor the frame pointer.
    pub(super) fn of_untouched_stack() -> UnwindRule {
        let is_pushed = cfg!(target_arch = "x86_64");
        UnwindRule {
            cfa: CfaRule::RegisterAndOffset {
                register: registers::STACK,
                offset: if is_pushed { 8 } else { 0 },
            },
            return_address: if is_pushed { Saved::At(-8) } else { Saved::Kept },
            frame: Saved::Kept,
            section: FrameSection::Eh,
            is_signal: false,
        }
    }

    /// Carries it out. `table` is where its expressions are.
    pub(super) fn caller(&self, frame: &UnwindFrame<'_>, table: Option<&UnwindTable>) -> Caller {
        if self.return_address == Saved::Undefined {
            return Caller::Beginning;
        }
        self.try_caller(frame, table).map_or(Caller::Unknown, |caller| match caller.code {
            0 => Caller::Beginning,
            _ => Caller::Known(caller),
        })
    }

    fn try_caller(&self, frame: &UnwindFrame<'_>, table: Option<&UnwindTable>) -> Option<UserRegisters> {
        let UserRegisters { stack, link, .. } = frame.registers;
        let expression = |expression| table?.expression(self.section, expression);
        let cfa = match self.cfa {
            CfaRule::RegisterAndOffset { register, offset } => {
                frame.register(register)?.checked_add_signed(offset)?
            }
            CfaRule::Expression(of_cfa) => frame.evaluate(expression(of_cfa)?, None)?,
        };
        // Only the innermost function may have nothing on the stack, and only a signal's handler another stack.
        if cfa < stack && !self.is_signal || cfa == stack && !frame.is_innermost {
            return None;
        }
        let saved = |saved: Saved, kept: Option<u64>| match saved {
            Saved::Kept => kept,
            Saved::At(offset) => frame.memory(cfa.checked_add_signed(offset)?),
            Saved::AtExpression(of_place) => frame.memory(frame.evaluate(expression(of_place)?, Some(cfa))?),
            Saved::Undefined | Saved::Unknown => None,
        };
        // What a call has put into a register is still there only in the innermost function.
        let link = (frame.is_innermost && cfg!(target_arch = "aarch64")).then_some(link);
        Some(UserRegisters {
            code: plain_code(saved(self.return_address, link)?),
            stack: cfa,
            // Nobody may need it any more.
            frame: saved(self.frame, Some(frame.registers.frame)).unwrap_or(0),
            link: 0,
        })
    }
}

/// A function on the stack, as far as it is known.
pub(super) struct UnwindFrame<'a> {
    pub(super) registers: UserRegisters,
    /// The address of its code as its file has it, for expressions that look at it.
    pub(super) file_address: u64,
    /// Whether it called nobody: it ran, or a signal interrupted it.
    pub(super) is_innermost: bool,
    /// The copied part of the stack, and where it begins.
    pub(super) stack: &'a [u8],
    pub(super) stack_begin: u64,
}

impl UnwindFrame<'_> {
    fn register(&self, register: Register) -> Option<u64> {
        match register {
            registers::STACK => Some(self.registers.stack),
            registers::FRAME => Some(self.registers.frame),
            registers::RETURN if cfg!(target_arch = "x86_64") => Some(self.file_address),
            registers::RETURN if self.is_innermost => Some(self.registers.link),
            _ => None,
        }
    }

    fn memory(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.stack_begin)?).ok()?;
        self.stack.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
    }

    fn evaluate(
        &self,
        expression: Expression<EndianSlice<'_, LittleEndian>>,
        initial: Option<u64>,
    ) -> Option<u64> {
        let mut evaluation = expression.evaluation(ENCODING);
        evaluation.set_max_iterations(STEPS_MAX);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut state = evaluation.evaluate().ok()?;
        loop {
            state = match state {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    evaluation.resume_with_register(Value::Generic(self.register(register)?)).ok()?
                }
                EvaluationResult::RequiresMemory { address, size: 8, .. } => {
                    evaluation.resume_with_memory(Value::Generic(self.memory(address)?)).ok()?
                }
                _ => return None,
            };
        }
        // Without a location, the value is what lies on top of its stack.
        match evaluation.as_result().first()?.location {
            gimli::Location::Address { address } => Some(address),
            _ => None,
        }
    }
}

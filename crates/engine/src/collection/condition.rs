//! Conditions on pairs: an expression in CEL over two documents `a` and `b` and their fields.
//!
//! # Algorithm
//! The expression is parsed once, and each field in it becomes a variable: the text of the field,
//! its number, or whether the document has it. An expression that compares fields or calls a
//! function is a *test*; the others combine tests. A test holds only if the documents have all of
//! its fields, so comparing a missing value gives false. All numbers are of 64 bits with a floating
//! point, except that integers keep all of their digits where they are only put in order, and a
//! date is the number of seconds since 1970.
//!
//! # Invariants
//! - An expression has no loops, and its length is limited: it ends for every input.
//! - What cannot be evaluated, such as a difference of texts, is false.
//! - The result depends only on the values of the fields, so documents with equal values are equal to
//!   a condition. Documents with equal words are one class for the join only if they have equal values,
//!   the condition does not depend on the order, and it holds between two of the class.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use cel::common::ast::{CallExpr, Expr, IdedExpr, ListExpr, LiteralValue, operators as op};
use cel::common::types::{CelBool, CelDouble, CelInt, CelString};
use cel::common::value::{CowVal, Val};
use cel::context::VariableResolver;
use cel::parser::PrattParser;
use cel::{Context as Scope, ExecutionError, Value};
use xxhash_rust::xxh3::xxh3_128;

use lookalike_base::{Error, alternatives, stored_as_text, words};
use lookalike_text::read::{moment, seconds};

/// The most bytes of an expression.
const MOST_BYTES: usize = 4 << 10;
/// How deep it may be: it is evaluated on the stack of a thread.
const MOST_DEPTH: usize = 300;
/// The functions of a condition.
const FUNCTIONS: [&str; 11] =
    words("abs contains date days double endsWith has hours size startsWith string");
/// The operators that combine tests, by their names in CEL.
const LOGIC: [&str; 4] = words("_&&_ _||_ !_ _?_:_");
/// The operators of a condition that compute or compare.
const OPERATORS: [&str; 12] = words("_==_ _!=_ _<_ _<=_ _>_ _>=_ _+_ _-_ _*_ _/_ -_ @in");

/// The operators and functions that are true or false.
const TESTS: [&str; 10] = words("_==_ _!=_ _<_ _<=_ _>_ _>=_ @in contains endsWith startsWith");
/// Those that order two values.
const ORDERS: [&str; 4] = words("_<_ _<=_ _>_ _>=_");
/// Those that take numbers and no text.
const COUNTS: [&str; 7] = words("_-_ _*_ _/_ -_ abs days hours");

/// A condition that a pair must meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    test: Arc<IdedExpr>,
    fields: Vec<String>,
    /// For each field, how its values are used, as letters of [`Variables::variable`].
    pub(super) kinds: Vec<String>,
    /// Whether documents with equal values may be the same: the order of the two does not matter, and
    /// the condition may hold between them.
    may_be_same: bool,
}

impl Condition {
    /// The fields that it names.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// Whether it is `true`, which limits nothing.
    pub fn is_true(&self) -> bool {
        self.fields.is_empty()
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Condition, String> {
        if text.len() > MOST_BYTES || text.contains(char::is_control) {
            let (most, bytes) = ("one line of at most 4096 bytes", text.len());
            return Err(format!(
                "a condition is {most}, and this one has {bytes} bytes"
            ));
        }
        let expression = PrattParser::default().parse(text).map_err(|errors| {
            let first = errors.errors.first();
            let place = first.map_or(0, |error| error.pos.1);
            let why = first.map_or("it is empty", |error| &error.msg);
            format!("`{text}` is not an expression: character {place}: {why}")
        })?;
        let mut reader = Variables {
            text: text.into(),
            ..Variables::default()
        };
        let test = reader.logic(&expression)?;
        if reader.fields.is_empty() && text.trim() != "true" {
            let how = "such as a.source; `true` lists all pairs";
            return Err(format!("`{text}` names no field, {how}"));
        }
        Ok(Condition {
            text: text.into(),
            may_be_same: canonical(&test, false) == canonical(&test, true) && !parts_equal(&test),
            test: test.into(),
            fields: reader.fields,
            kinds: reader.kinds,
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

stored_as_text!(Condition);

/// Turns the fields of an expression into variables.
#[derive(Default)]
struct Variables {
    /// The expression, for messages.
    text: String,
    fields: Vec<String>,
    kinds: Vec<String>,
    /// How deep the expression is that is being read.
    depth: usize,
    /// Whether the test that is being read is about dates: it has `days`, `hours` or `date`, or
    /// subtracts a field that is called a date.
    dated: bool,
}

/// Whether an expression calls a function of dates or subtracts dates, unless it is too deep.
fn is_dated(expression: &IdedExpr, depth: usize) -> bool {
    let Expr::Call(called) = &expression.expr else {
        return false;
    };
    let mut args = called.target.iter().map(|one| &**one).chain(&called.args);
    ["date", "days", "hours"].contains(&&*called.func_name)
        || called.func_name == op::SUBSTRACT && args.clone().any(is_date_field)
        || depth < MOST_DEPTH && args.any(|one| is_dated(one, depth + 1))
}

/// Whether it is a field that is called a date, which has dates.
fn is_date_field(one: &IdedExpr) -> bool {
    path(one).is_some_and(|(_, at)| at.split('.').next_back() == Some("date"))
}

/// The field that was meant if this word stands after a hyphen, which is a minus: `a["X-Source"]` for
/// the `Source` of `a.X-Source`.
fn hyphened(text: &str, word: &str) -> Option<String> {
    let mut names = text.split(|c: char| !c.is_alphanumeric() && !"_.-".contains(c));
    names.find_map(|name| {
        let (before, last) = name.trim_start_matches('-').rsplit_once('.')?;
        let is_meant = !before.contains('-') && last.split('-').skip(1).any(|part| part == word);
        is_meant.then(|| format!("{before}[\"{last}\"]"))
    })
}

/// Returns the type of an expression: a text (`t`), a number (`n`), a truth value (`b`) or the
/// value of a field (`f`).
fn gives(one: &IdedExpr) -> char {
    let is_text = |one: &IdedExpr| gives(one) == 't';
    match &one.expr {
        _ if path(one).is_some() => 'f',
        Expr::Literal(LiteralValue::String(_)) => 't',
        Expr::Literal(LiteralValue::Boolean(_)) | Expr::Select(_) => 'b',
        Expr::List(list) if list.elements.iter().all(|one| "tf".contains(gives(one))) => 't',
        Expr::Call(called) => match &*called.func_name {
            "string" => 't',
            op::ADD if called.args.iter().any(is_text) => 't',
            name if TESTS.contains(&name) || LOGIC.contains(&name) => 'b',
            _ => 'n',
        },
        _ => 'n',
    }
}

fn of(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

fn call(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    of(Expr::Call(CallExpr {
        func_name: name.into(),
        target: None,
        args,
    }))
}

/// The document and the path of a field.
fn path(expression: &IdedExpr) -> Option<(char, String)> {
    let (base, step) = match &expression.expr {
        Expr::Ident(name) => match name.as_str() {
            "a" => return Some(('a', String::new())),
            "b" => return Some(('b', String::new())),
            _ => return None,
        },
        Expr::Select(select) if !select.test => (&*select.operand, format!(".{}", select.field)),
        Expr::Call(index) if index.func_name == op::INDEX => match &index.args[..] {
            [base, at] => match &at.expr {
                Expr::Literal(LiteralValue::String(name)) => (base, format!(".{}", name.inner())),
                Expr::Literal(LiteralValue::Int(n)) => (base, format!("[{}]", n.inner())),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    let (side, before) = path(base)?;
    let path = before + &step;
    Some((side, path.trim_start_matches('.').into()))
}

impl Variables {
    /// The variable of a field: whether it is there (`h`), its text (`t`), its number (`n`), 1 or 0 if
    /// it is true or false (`b`), its date (`d`), or its number and without one its text (`o`).
    fn variable(&mut self, (side, path): (char, String), kind: char) -> Result<String, String> {
        if path.is_empty() {
            return Err(format!(
                "`{side}` is a document; name a field of it, such as {side}.source"
            ));
        }
        let at = self.fields.iter().position(|field| *field == path);
        let at = at.unwrap_or_else(|| {
            self.fields.push(path);
            self.kinds.push(String::new());
            self.fields.len() - 1
        });
        self.kinds[at].push(kind);
        Ok(format!("{side}{kind}{at}"))
    }

    /// Refuses an expression that is too deep; callers go up again.
    fn descend(&mut self) -> Result<(), String> {
        self.depth += 1;
        match self.depth > MOST_DEPTH {
            true => Err("the expression is nested too deep".into()),
            false => Ok(()),
        }
    }

    /// Reads an expression that combines tests; everything else is a test.
    fn logic(&mut self, expression: &IdedExpr) -> Result<IdedExpr, String> {
        self.descend()?;
        let read = match &expression.expr {
            Expr::Call(combined) if LOGIC.contains(&&*combined.func_name) => {
                let args = combined.args.iter().map(|arg| self.logic(arg));
                call(&combined.func_name, args.collect::<Result<_, _>>()?)
            }
            Expr::Call(called) if "nt".contains(gives(expression)) => {
                operands(called, false)?;
                let name = called.func_name.trim_matches('_');
                return Err(format!(
                    "`{name}` gives no truth value: compare it with another value"
                ));
            }
            Expr::Literal(literal) if !matches!(literal, LiteralValue::Boolean(_)) => {
                let why = "a number or a text gives no truth value: compare it with a field";
                return Err(why.into());
            }
            _ => {
                let mut used = Vec::new();
                self.dated = is_dated(expression, self.depth);
                let flag = path(expression).is_some();
                let mut test = self.value(expression, if flag { 'b' } else { 't' }, &mut used)?;
                if flag {
                    let truth = Expr::Literal(LiteralValue::Double(1.0.into()));
                    test = call(op::EQUALS, vec![test, of(truth)]);
                }
                used.sort();
                used.dedup();
                used.into_iter().fold(test, |test, has| {
                    call(op::LOGICAL_AND, vec![of(Expr::Ident(has)), test])
                })
            }
        };
        self.depth -= 1;
        Ok(read)
    }

    /// A part of a test, which takes fields as this kind of variables. The variables that say
    /// whether its fields are there go to `used`.
    fn value(
        &mut self,
        expression: &IdedExpr,
        kind: char,
        used: &mut Vec<String>,
    ) -> Result<IdedExpr, String> {
        if let Some(field) = path(expression) {
            used.push(self.variable(field.clone(), 'h')?);
            let kind = kind.to_ascii_lowercase();
            return Ok(of(Expr::Ident(self.variable(field, kind)?)));
        }
        self.descend()?;
        let read = of(match &expression.expr {
            Expr::Literal(LiteralValue::Int(n)) => {
                let n = n.inner();
                // As seconds it is of January 1970, which nobody means.
                if kind == 'D' && (1000..1_000_000).contains(n) {
                    return Err(format!("{n} is not a date; write \"2024\" for a year"));
                }
                let day = seconds(*n as f64).filter(|_| kind == 'D');
                Expr::Literal(LiteralValue::Double(day.unwrap_or(*n as f64).into()))
            }
            Expr::Literal(LiteralValue::Null | LiteralValue::Bytes(_)) => {
                let what =
                    "no value is null or bytes: `!has(a.date)` asks whether a date is missing";
                return Err(what.into());
            }
            Expr::Literal(LiteralValue::String(text)) => {
                let value = match (kind, text.inner().trim().parse::<i64>()) {
                    ('o', Ok(integer)) => Some(LiteralValue::Int(integer.into())),
                    ('o', _) => number(text.inner()).map(|n| LiteralValue::Double(n.into())),
                    ('d' | 'D', _) => date(text.inner()).map(|n| LiteralValue::Double(n.into())),
                    _ => None,
                };
                value.map_or_else(|| expression.expr.clone(), Expr::Literal)
            }
            Expr::Literal(literal) => Expr::Literal(literal.clone()),
            Expr::List(list) => {
                let all = list.elements.iter();
                let all = all.map(|one| self.value(one, kind, used));
                Expr::List(ListExpr::new(all.collect::<Result<_, _>>()?))
            }
            Expr::Select(has) if has.test => {
                let Some((side, before)) = path(&has.operand) else {
                    return Err("has() asks for a field, such as has(a.date)".into());
                };
                let path = format!("{before}.{}", has.field);
                let path = path.trim_start_matches('.').to_string();
                Expr::Ident(self.variable((side, path), 'h')?)
            }
            Expr::Call(called) if LOGIC.contains(&&*called.func_name) => {
                self.logic(expression)?.expr
            }
            Expr::Call(called) => self.call(called, used)?,
            Expr::Ident(name) => {
                let field = hyphened(&self.text, name);
                let field = field.unwrap_or_else(|| format!("a.{name} or b.{name}"));
                return Err(format!("`{name}` is not known; write {field} for a field"));
            }
            _ => return Err("a condition has no loops, maps or types".into()),
        });
        self.depth -= 1;
        Ok(read)
    }

    /// A call of a function or an operator.
    fn call(&mut self, called: &CallExpr, used: &mut Vec<String>) -> Result<Expr, String> {
        let (name, kind) = (&*called.func_name, operands(called, self.dated)?);
        let args = || called.target.iter().map(|one| &**one).chain(&called.args);
        let mut values = args().map(|arg| self.value(arg, kind, used));
        let target = match called.target {
            Some(_) => values.next().transpose()?.map(Box::new),
            None => None,
        };
        let mut args = values.collect::<Result<Vec<_>, _>>()?;
        // A field or a text has been read as a date already.
        let read = args.pop_if(|one| name == "date" && !matches!(one.expr, Expr::Call(_)));
        if let Some(read) = read {
            return Ok(read.expr);
        }
        let made = Expr::Call(CallExpr {
            func_name: name.into(),
            target,
            args,
        });
        // All numbers are of one type.
        Ok(match name {
            "size" => call("double", vec![of(made)]).expr,
            _ => made,
        })
    }
}

/// Says why the operands of an operator are wrong for all values of the fields.
fn misplaced(name: &str, args: &[IdedExpr]) -> Option<&'static str> {
    const BY_ZERO: Option<&str> = Some("nothing is divided by 0");
    let is_list = |one: &&IdedExpr| matches!(one.expr, Expr::List(_));
    let lists = args.iter().filter(is_list).count();
    match (name, args.last().map(|one| &one.expr)) {
        ("/", Some(Expr::Literal(LiteralValue::Int(n)))) if *n.inner() == 0 => BY_ZERO,
        ("/", Some(Expr::Literal(LiteralValue::Double(n)))) if *n.inner() == 0.0 => BY_ZERO,
        ("@in", Some(Expr::List(_))) => None,
        ("==" | "!=", _) if lists != 1 => None,
        _ => (lists > 0 || name == "@in").then_some("a list stands after `in`: a.x in ['y', 'z']"),
    }
}

/// As which kind of variables a call takes fields; refuses a call that can have no value. It is a
/// function of its own because calls are read on the stack.
fn operands(called: &CallExpr, dated: bool) -> Result<char, String> {
    let name = &*called.func_name;
    let sets = [&FUNCTIONS[..], &OPERATORS, &TESTS, &ORDERS, &COUNTS];
    let [is_function, is_operator, compares, orders, counts] = sets.map(|set| set.contains(&name));
    let name = name.trim_matches('_');
    if !is_function && !is_operator {
        let known = alternatives(&FUNCTIONS);
        return Err(format!("`{name}` is not possible; use {known}"));
    }
    let args = || called.target.iter().map(|one| &**one).chain(&called.args);
    let has = |what: char| args().any(|one| gives(one) == what);
    let texts = !has('n') && !has('b');
    if has('b') && (is_function || has('t') || has('f') || has('n')) {
        return Err("a field is true or false by itself: write a.flag or !a.flag".into());
    }
    let of_text = ["contains", "endsWith", "startsWith"].contains(&name);
    let form = match (name, &called.target, called.args.len()) {
        ("date" | "size", ..) if !texts => Some(format!("{name}(a.date)")),
        (_, Some(_), 1) if of_text && texts => None,
        _ if of_text => Some(format!("a.title.{name}(\"x\")")),
        ("size", Some(_), 0) => None,
        (_, None, 1) if is_function => None,
        _ => is_function.then(|| format!("{name}(a.date)")),
    };
    if let Some(form) = form {
        return Err(format!("`{name}` takes one value: {form}"));
    }
    if let Some(wrong) = misplaced(name, &called.args) {
        return Err(wrong.into());
    }
    // A number beside a field called `date` is a date.
    let is_int = |one: &IdedExpr| matches!(one.expr, Expr::Literal(LiteralValue::Int(_)));
    let is_number = |one: &IdedExpr| match &one.expr {
        Expr::List(list) => !list.elements.is_empty() && list.elements.iter().all(is_int),
        _ => is_int(one),
    };
    let plain = args().all(|one| gives(one) != 'n' || is_number(one));
    let dates = plain && args().any(is_date_field) && (orders || compares && args().any(is_number));
    let text = args().find_map(|one| match &one.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    });
    match text {
        Some(text) if counts || name == "+" && has('f') => {
            return Err(format!(
                "`{name}` takes numbers, and {text:?} is a text; a date is date({text:?})"
            ));
        }
        Some(text) if (name == "date" || dates || dated && is_operator) && date(text).is_none() => {
            return Err(format!("{text:?} is no date, such as 2024-01-31"));
        }
        _ => {}
    }
    let made = args().any(|one| gives(one) == 't' && matches!(one.expr, Expr::Call(_)));
    let mixed = is_operator && name != "@in" && has('n') && has('t');
    if made && counts || mixed && (made || !dated && !dates) {
        let text = text.map_or(String::new(), |text| format!(" {text:?}"));
        return Err(format!(
            "`{name}` of a number and the text{text} has no value"
        ));
    }
    let is_date = |text: &str| text.parse::<f64>().is_err() && date(text).is_some();
    Ok(match name {
        "date" => 'd',
        "string" | "size" => 't',
        _ if made && is_operator => 't',
        _ if dates => 'D',
        _ if dated && (is_operator || name == "abs") => 'd',
        _ if orders && texts && text.is_some_and(is_date) => 'd',
        _ if orders && texts => 'o',
        "==" | "!=" | "@in" if texts => 't',
        _ if is_operator || ["abs", "double", "days", "hours"].contains(&name) => 'n',
        _ => 't',
    })
}

/// Whether a test holds between no documents with equal values, such as `a.source != b.source`.
fn parts_equal(test: &IdedExpr) -> bool {
    let Expr::Call(called) = &test.expr else {
        return false;
    };
    match (&*called.func_name, &called.args[..]) {
        (op::LOGICAL_AND, args) => args.iter().any(parts_equal),
        (op::LOGICAL_OR, args) => args.iter().all(parts_equal),
        (op::NOT_EQUALS | op::LESS | op::GREATER, [a, b]) => match (&a.expr, &b.expr) {
            (Expr::Ident(a), Expr::Ident(b)) => a.get(1..) == b.get(1..),
            _ => false,
        },
        _ => false,
    }
}

/// A form that two expressions share if they differ only in the order of operands that may change
/// places; with `swapped`, the form of the expression in which `a` and `b` have changed places.
fn canonical(expression: &IdedExpr, swapped: bool) -> String {
    /// The operands of a chain of one operator.
    fn chain<'e>(one: &'e IdedExpr, name: &str) -> Vec<&'e IdedExpr> {
        match &one.expr {
            Expr::Call(inner) if inner.func_name == name => {
                inner.args.iter().flat_map(|one| chain(one, name)).collect()
            }
            _ => vec![one],
        }
    }
    let of = |one: &IdedExpr| canonical(one, swapped);
    match &expression.expr {
        Expr::Ident(name) => match (swapped, name.split_at_checked(1)) {
            (true, Some(("a", rest))) => format!("b{rest}"),
            (true, Some(("b", rest))) => format!("a{rest}"),
            _ => name.clone(),
        },
        Expr::Call(called) => {
            let mut name = called.func_name.clone();
            let target = called.target.iter().map(|one| &**one);
            let mut all: Vec<String> = target.chain(&called.args).map(of).collect();
            match &*name {
                op::EQUALS | op::NOT_EQUALS | op::ADD | op::MULTIPLY => all.sort(),
                op::LOGICAL_AND | op::LOGICAL_OR => {
                    all = chain(expression, &name).into_iter().map(of).collect();
                    all.sort();
                    all.dedup();
                }
                op::GREATER | op::GREATER_EQUALS => {
                    all.reverse();
                    name = name.replace('>', "<");
                }
                // The sign of a difference is nothing to `abs`.
                "abs" => {
                    if let Some(Expr::Call(inner)) = called.args.first().map(|one| &one.expr)
                        && inner.func_name == op::SUBSTRACT
                    {
                        all = inner.args.iter().map(of).collect();
                        all.sort();
                        name = "abs-".into();
                    }
                }
                _ => {}
            }
            format!("{name}({})", all.join(","))
        }
        Expr::List(list) => {
            let all: Vec<String> = list.elements.iter().map(of).collect();
            format!("[{}]", all.join(","))
        }
        other => format!("{other:?}"),
    }
}

/// A number or a date, in seconds.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.or_else(|| moment(text).map(|(seconds, rest)| seconds as f64 + rest as f64 / 1e9))
}

/// 1 or 0.
fn truth(text: &str) -> Option<f64> {
    let truth: bool = text.trim().parse().ok()?;
    Some(u8::from(truth).into())
}

/// A date in seconds, also as a number, as for `dedup --keep newest:FIELD`.
fn date(text: &str) -> Option<f64> {
    match text.trim().parse() {
        Ok(value) if f64::is_finite(value) => seconds(value),
        _ => number(text),
    }
}

/// Whether a use of a field takes an integer for the nearest number of 64 bits, which is another one.
pub(super) fn is_rounded(kinds: &str, text: &str) -> bool {
    let is_other = |&n: &i128| n as f64 as i128 != n;
    let other = text.trim().parse::<i128>().ok().filter(is_other);
    let of_order = |n| kinds.contains('o') && i64::try_from(n).is_err();
    other.is_some_and(|n| kinds.contains(['n', 'd']) || of_order(n))
}

/// A value of a document: its text, and if the condition uses them, its number, its date and, to be
/// put in order, its integer.
type FieldValue = (CelString<'static>, [Option<CelDouble>; 2], Option<CelInt>);

/// The values of the fields of a document.
pub(super) struct FieldValues(pub(super) Vec<Option<FieldValue>>);

/// The uses of a field that read its text.
pub(super) const READ: [char; 3] = ['n', 'd', 'b'];

/// Names the value that a field with these uses needs.
pub(super) fn needed(kinds: &str) -> &'static str {
    match kinds.contains('b') {
        true => "true or false",
        false => "a number or a date",
    }
}

/// Two documents, as the variables of a condition.
struct Two<'v> {
    a: &'v FieldValues,
    b: &'v FieldValues,
}

impl VariableResolver for Two<'_> {
    fn resolve<'b>(&'b self, name: &str) -> Option<CowVal<'b, 'b>> {
        let (side, rest) = name.split_at_checked(1)?;
        let (kind, at) = rest.split_at_checked(1)?;
        let values = if side == "a" { self.a } else { self.b };
        let value = values.0.get(at.parse::<usize>().ok()?)?;
        Some(match (kind, value) {
            ("h", value) => CowVal::owned(CelBool::from(value.is_some())),
            ("o", Some((.., Some(integer)))) => CowVal::Borrowed(integer as &dyn Val),
            ("n" | "b" | "o", Some((_, [Some(number), _], _)))
            | ("d", Some((_, [_, Some(number)], _))) => CowVal::Borrowed(number as &dyn Val),
            ("n" | "b" | "d", _) => return None,
            (_, value) => CowVal::Borrowed(&value.as_ref()?.0 as &dyn Val),
        })
    }
}

/// A condition with the functions that it may call.
pub struct Rule {
    /// The condition.
    pub condition: Condition,
    /// For each of its fields, the place among those that the collection keeps.
    pub(super) places: Vec<usize>,
    scope: Scope<'static, 'static>,
}

impl Rule {
    /// A condition over fields that the collection keeps.
    ///
    /// # Errors
    /// `BadParameter` if it does not keep one of them.
    pub fn new(condition: &Condition, kept: &[String]) -> lookalike_base::Result<Rule> {
        let condition = condition.clone();
        let place = |field: &String| {
            let known = kept.iter().position(|known| known == field);
            known.ok_or_else(|| {
                // A directory from somebody else may have any names.
                let kept = kept.join(", ").escape_debug().to_string();
                let keeps = match kept.is_empty() {
                    true => "fields, because it was made without --where".into(),
                    false => format!("field {field}, only {kept}"),
                };
                Error::parameter("where", &condition).because(format!(
                    "the collection keeps no {keeps}; read the inputs in a new directory"
                ))
            })
        };
        let places = condition.fields.iter().map(place);
        let places = places.collect::<lookalike_base::Result<_>>()?;
        let mut scope = Scope::default();
        let functions = (|| {
            scope.add_function("abs", |x: Value| match x {
                Value::Float(x) => Ok(x.abs()),
                _ => Err(ExecutionError::function_error("abs", "not a number")),
            })?;
            scope.add_function("days", |n: f64| n * 86_400.0)?;
            scope.add_function("hours", |n: f64| n * 3600.0)?;
            scope.add_function("date", |text: Arc<String>| {
                date(&text).ok_or_else(|| ExecutionError::function_error("date", "not a date"))
            })
        })();
        functions
            .map_err(|error| Error::parameter("where", &condition).because(error.to_string()))?;
        Ok(Rule {
            condition,
            places,
            scope,
        })
    }

    /// The values of a document, from what the collection keeps ([`super::DocumentView`]).
    pub(super) fn values(&self, kept: &str) -> FieldValues {
        let mut kept: Vec<Option<String>> = serde_json::from_str(kept).unwrap_or_default();
        let fields = self.places.iter().zip(&self.condition.kinds);
        let values = fields.map(|(&place, kinds)| {
            let text = kept.get_mut(place)?.take()?;
            // Reading a text as a date takes longer than all the rest.
            let read = |used: bool, how: fn(&str) -> Option<f64>| {
                let value = if used { how(&text) } else { None };
                value.map(CelDouble::from)
            };
            let number = read(kinds.contains(['n', 'o']), number);
            let number = number.or(read(kinds.contains('b'), truth));
            let date = read(kinds.contains('d'), date);
            let integer = text.trim().parse::<i64>().ok();
            let integer = integer.filter(|_| kinds.contains('o')).map(CelInt::from);
            Some((CelString::from(text), [number, date], integer))
        });
        FieldValues(values.collect())
    }

    /// Whether it holds between two documents. `None` if it cannot be evaluated, or does not hold and
    /// a value is missing.
    pub(super) fn decide(&self, a: &FieldValues, b: &FieldValues) -> Option<bool> {
        let two = Two { a, b };
        // A scope of its own, because the values live for this call only.
        let mut scope: Scope<'_, '_> = self.scope.new_inner_scope();
        scope.set_variable_resolver(&two);
        match Value::resolve(&self.condition.test, &scope) {
            Ok(Value::Bool(holds)) => {
                Some(holds).filter(|holds| *holds || self.lacks(a, b).is_none())
            }
            _ => None,
        }
    }

    /// A value that it needs and one of two documents lacks.
    pub(super) fn lacks(&self, a: &FieldValues, b: &FieldValues) -> Option<String> {
        [("a", a), ("b", b)].iter().find_map(|(side, of)| {
            let fields = self.condition.fields.iter().zip(&self.condition.kinds);
            fields
                .zip(&of.0)
                .find_map(|((field, kinds), value)| match value {
                    None if kinds.contains(|kind| kind != 'h') => {
                        Some(format!("{side} has no {field}"))
                    }
                    Some((text, [None, None], _)) if kinds.contains(READ) => {
                        let (text, needed) =
                            (text.inner().escape_debug().to_string(), needed(kinds));
                        Some(format!("{field} of {side} is not {needed}: {text:.64}"))
                    }
                    _ => None,
                })
        })
    }

    /// The key under which a document is the same as others for the join; `None` if it is the same as
    /// no other.
    pub(super) fn key(&self, md5: &[u8; 16], kept: &str) -> Option<u128> {
        let values = (self.condition.may_be_same).then(|| self.values(kept))?;
        (self.decide(&values, &values) == Some(true)).then(|| {
            let mut key = md5.to_vec();
            for value in values.0 {
                // A length before each value: no two tuples have the same bytes.
                let text = value.map(|(text, ..)| text.inner().to_string());
                let length = text.as_ref().map_or(u64::MAX, |text| text.len() as u64);
                key.extend(length.to_le_bytes());
                key.extend(text.unwrap_or_default().into_bytes());
            }
            xxh3_128(&key)
        })
    }

    /// A digest that documents share which are the same for a join. It begins with half of the MD5 of
    /// their words. `name` tells documents apart whose values do not.
    pub fn class(&self, md5: &[u8; 16], kept: &str, name: &[u8]) -> [u8; 16] {
        let key = self.key(md5, kept).unwrap_or_else(|| xxh3_128(name));
        let mut class = *md5;
        class[8..].copy_from_slice(&key.to_be_bytes()[8..]);
        class
    }

    /// Whether it holds between two documents with these values.
    pub fn holds(&self, a: &[u8], b: &[u8]) -> bool {
        let [a, b] = [a, b].map(|kept| self.values(std::str::from_utf8(kept).unwrap_or_default()));
        self.decide(&a, &b) == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_have_smaller_units_than_seconds() {
        for (text, seconds) in [
            ("9999-12-31", 253_402_214_400.0),
            ("5138-11-17", 100_000_051_200.0),
            ("20240131", 1_706_659_200.0),
            ("1706659200", 1_706_659_200.0),
            ("1706659200000", 1_706_659_200.0),
            ("1706659200000000", 1_706_659_200.0),
            ("1706659200000000000", 1_706_659_200.0),
            ("-1706659200000", -1_706_659_200.0),
        ] {
            assert_eq!(date(text), Some(seconds), "{text}");
        }
        assert_eq!(date("inf"), None);
    }
}

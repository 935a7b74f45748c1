//! The tokens of programs, formulas and queries, against cases that were cut by hand.

use lookalike::text::parse::{ParseConfig, Parser, TokenConsumer, Tokens};
use lookalike::text::read::{ContentKind, RawDocument};

struct Joined(String);

impl TokenConsumer for Joined {
    fn take(&mut self, tokens: Tokens<'_>, _: bool) -> usize {
        self.0.push_str(std::str::from_utf8(tokens.bytes).unwrap());
        tokens.bytes.len()
    }
}

/// The tokens of a text, with a space between them.
fn tokens(text: &str, kind: &str, fold: &str) -> String {
    let config = ParseConfig {
        tokens: kind.parse().unwrap(),
        fold: fold.parse().unwrap(),
        ..ParseConfig::default()
    };
    let document = RawDocument::of_text(text, ContentKind::Text);
    let mut joined = Joined(String::new());
    Parser::new(&config).parse(&document, &mut joined);
    joined.0
}

/// By language, a text and its tokens.
const CASES: [(&str, &[(&str, &str)]); 10] = [
    (
        "code",
        &[
            ("x + 3", "x + 3"),
            ("x - 3", "x - 3"),
            ("C++ C#", "C ++ C #"),
            ("if(a<=b&&c!=d)", "if ( a <= b && c != d )"),
            ("Größe=größe", "Größe = größe"),
            ("f(\"\") f()", "f ( \" \" ) f ( )"),
            ("a /* b */ c // d\ne", "a /* b c // d e"),
            ("∀x∈S: x≠0", "∀ x ∈ S : x ≠ 0"),
            ("don't stop\nnow", "don ' t stop now"),
            ("名前 = 3", "名前 = 3"),
            ("a\u{ad}b", "ab"),
            ("", ""),
        ],
    ),
    (
        "code:c",
        &[
            ("p->x = *q++;", "p -> x = * q ++ ;"),
            ("a<<=2; b>>3", "a <<= 2 ; b >> 3"),
            ("x=0x1F|0755|1.5e-3f;", "x = 0x1F | 0755 | 1.5e-3f ;"),
            ("0xe+1", "0xe + 1"),
            ("1'000'000", "1'000'000"),
            ("'a' '\\'' '\\n'", "' a ' ' \\' ' ' \\n '"),
            ("puts(\"Hi, you_2\\n\");", "puts ( \" Hi , you_2 \\n \" ) ;"),
            ("#define A(x) \\\n  x##y", "# define A ( x ) x ## y"),
            ("#include <std.h>", "# include < std . h >"),
            ("/* a * b **/c", "/* a b c"),
            ("std::vector<int>", "std :: vector < int >"),
            ("\"open\nx = 1;", "\" open x = 1 ;"),
            ("a?b:c...", "a ? b : c ..."),
            ("R\"(a\\\"b\n//)\" // x", "R \" ( a \\ \" b / / ) \" // x"),
            (
                "u8R\"x-1(a)\" )x-1\"b",
                "u8R \" x - 1 ( a ) \" ) x - 1 \" b",
            ),
            ("R\"a\\\"b\" c", "R \" a \\\" b \" c"),
            ("LR\"(a\n)b\"\n)\";", "LR \" ( a ) b \" ) \" ;"),
            ("XR\"(\" + y(\")\")", "XR \" ( \" + y ( \" ) \" )"),
        ],
    ),
    (
        "code:java",
        &[
            ("import java.util.*;", "import java . util . * ;"),
            ("int $x_1=0L;", "int $x_1 = 0L ;"),
            ("a>>>=b", "a >>>= b"),
            ("List<>::new", "List <> :: new"),
            ("x->x+1", "x -> x + 1"),
            ("@Override", "@ Override"),
            ("\"\"\"\n a \"b\"\n\"\"\";", "\" \" \" a \" b \" \" \" \" ;"),
            ("\"\".isEmpty()", "\" \" . isEmpty ( )"),
            ("/** See {@link A}. */", "/* See link A"),
            ("'\\u0041'", "' \\u 0041 '"),
            ("1_000.5d", "1_000.5d"),
        ],
    ),
    (
        "code:python",
        &[
            ("x = a//b # half", "x = a // b # half"),
            ("def f(*a, **k):", "def f ( * a , ** k ) :"),
            ("'''a\n'b' \"c\" ''' + d", "' ' ' a ' b ' \" c \" ' ' ' + d"),
            ("\"\"\"\"\"\"x", "\" \" \" \" \" \" x"),
            ("'' + ''", "' ' + ' '"),
            ("s[::2]", "s [ :: 2 ]"),
            ("1..real", "1 .. real"),
            ("if (n := 10) >= 3j:", "if ( n := 10 ) >= 3j :"),
            ("f'{x!r}'", "f ' { x ! r } '"),
            ("r'\\d+'", "r ' \\d + '"),
            ("@a\ndef b(): ...", "@ a def b ( ) : ..."),
            ("x **= -1e+5", "x **= - 1e+5"),
            ("'a\\\nb' c", "' a \\ b ' c"),
        ],
    ),
    (
        "code:javascript",
        &[
            ("a === b !== c", "a === b !== c"),
            ("$('#id').on()", "$ ( ' # id ' ) . on ( )"),
            ("x?.y ?? z", "x ?. y ?? z"),
            ("`a ${b}\nc` + d", "` a $ { b } c ` + d"),
            ("(x) => x ** 2", "( x ) => x ** 2"),
            ("[...xs]", "[ ... xs ]"),
            ("0b101n", "0b101n"),
            ("const _a1 = null;", "const _a1 = null ;"),
            ("'it\\'s'", "' it \\' s '"),
            ("// it's `x`\ny", "// it s x y"),
            ("a&&=b||c", "a &&= b || c"),
            (
                "x = /it's \"/gi.test(y)",
                "x = / it ' s \" / gi . test ( y )",
            ),
            ("a = b / c / d", "a = b / c / d"),
            ("return /[/'\\]]+/;", "return / [ / ' \\] ] + / ;"),
            ("f(x)/2 + a[1]/g", "f ( x ) / 2 + a [ 1 ] / g"),
            ("a = /\\/*/ // b", "a = / \\/ * / // b"),
            ("s.split(/\"/) // c", "s . split ( / \" / ) // c"),
            ("x++ / 2 / 'a'", "x ++ / 2 / ' a '"),
            ("<a>it</a>", "< a > it < / a >"),
            ("= /'\ny = 'a'", "= / ' y = ' a '"),
            ("x.return / 2 + 'a/b'", "x . return / 2 + ' a / b '"),
        ],
    ),
    (
        "code:rust",
        &[
            ("fn f<'a>(x: &'a str)", "fn f < ' a > ( x : & ' a str )"),
            ("'a' '\\'' '\"' ' '", "' a ' ' \\' ' ' \" ' ' '"),
            ("0..=9", "0 ..= 9"),
            ("1.0..2.5", "1.0 .. 2.5"),
            ("x.0.1", "x . 0.1"),
            ("/* a /* b */ c */ d", "/* a b c d"),
            ("m::<u8>()?", "m :: < u8 > ( ) ?"),
            ("#[cfg(test)]", "# [ cfg ( test ) ]"),
            ("|x| !x", "| x | ! x"),
            ("b\"a\\x00\"", "b \" a \\x 00 \""),
            ("'outer: loop {}", "' outer : loop { }"),
            ("1_u64", "1_u64"),
            ("r\"a\\\" + b", "r \" a \\ \" + b"),
            ("r#\"a \"b\"\n//\"# // c", "r # \" a \" b \" / / \" # // c"),
            (
                "br##\"x\"#y\"## == r#type",
                "br # # \" x \" # y \" # # == r # type",
            ),
            ("r#\"don't\"#; 'a'", "r # \" don ' t \" # ; ' a '"),
            ("xr\"a\\\"\" b", "xr \" a \\\" \" b"),
            ("\"a\n// 'b\" // c", "\" a / / ' b \" // c"),
        ],
    ),
    (
        "code:go",
        &[
            ("x := <-c", "x := <- c"),
            ("c <- 1", "c <- 1"),
            ("`a\\` + \"b\"", "` a \\ ` + \" b \""),
            ("`x\n\"y` z", "` x \" y ` z"),
            ("a &^ b", "a & ^ b"),
            ("x++", "x ++"),
            ("func(xs ...int)", "func ( xs ... int )"),
            ("'\\n'", "' \\n '"),
            ("// Über uns\n0o17", "// Über uns 0o17"),
            ("a[1:2]", "a [ 1 : 2 ]"),
            ("0x1p-2", "0x1p-2"),
        ],
    ),
    (
        "code:sql",
        &[
            ("SELECT * FROM t", "SELECT * FROM t"),
            ("a <> 'it''s'", "a <> ' it ' ' s '"),
            ("'\\' || x", "' \\ ' || x"),
            ("x -- rest's\ny", "x -- rest s y"),
            ("/* a */ b", "/* a b"),
            ("\"Order\".id", "\" Order \" . id"),
            ("n >= 1.5", "n >= 1.5"),
            ("a-b", "a - b"),
            ("t.*, count(*)", "t . * , count ( * )"),
            (":p::int", ": p :: int"),
            ("'2020-01-02'", "' 2020 - 01 - 02 '"),
        ],
    ),
    (
        "code:shell",
        &[
            ("echo $# # count", "echo $ # # count"),
            ("${#x}", "$ { # x }"),
            ("a=\"$b\\\"\"", "a = \" $ b \\\" \""),
            ("'a\\' b", "' a \\ ' b"),
            ("cmd >> f 2>&1", "cmd >> f 2 > & 1"),
            ("case x) a;; esac", "case x ) a ;; esac"),
            ("a && b || c", "a && b || c"),
            ("cat <<<x", "cat <<< x"),
            ("http://a.b/c#d", "http : // a . b / c # d"),
            ("echo \\\n  x", "echo x"),
            ("ls *.txt", "ls * . txt"),
            (
                "cat <<EOF > f # it's\ndon't \"\nEOF\necho 'a' # b",
                "cat << EOF > f # it s don ' t \" EOF echo ' a ' # b",
            ),
            (
                "cat <<-'X Y' <<EOF\n# 'x\n\tX Y",
                "cat << - ' X Y ' << EOF # ' x X Y",
            ),
            (
                "cat <<'E' | sort\n'\nE x\n  E\n'a'",
                "cat << ' E ' | sort ' E x E ' a '",
            ),
            ("x=$((1<<y))\n'a'", "x = $ ( ( 1 << y ) ) ' a '"),
            ("cat << \\E\n$x_1's\nE\n'b'", "cat << \\E $ x_1 ' s E ' b '"),
            ("cat <<E \\\n f\n'\nE", "cat << E f ' E"),
            ("cat <<-'x' \\\n\n{ # y", "cat << - ' x ' { # y"),
            ("cat <<<E\n'a'", "cat <<< E ' a '"),
        ],
    ),
    (
        "code:latex",
        &[
            ("$x_i^2$", "$ x _ i ^ 2 $"),
            ("\\frac{a}{b}", "\\frac { a } { b }"),
            ("\\alpha_1", "\\alpha _ 1"),
            ("50\\% % so", "50 \\% % so"),
            ("a\\\\b", "a \\\\ b"),
            ("x' = y''", "x ' = y ' '"),
            ("\\{x \\in S\\}", "\\{ x \\in S \\}"),
            ("a \\leq b", "a \\leq b"),
            ("``q''", "` ` q ' '"),
            ("f(x)=3.14x", "f ( x ) = 3.14x"),
            ("\\ x\\", "x"),
            ("e^{-x}", "e ^ { - x }"),
        ],
    ),
];

#[test]
fn programs_are_cut_as_by_hand() {
    for (kind, cases) in CASES {
        for (text, expected) in cases {
            assert_eq!(tokens(text, kind, "none"), *expected, "{kind}: {text}");
        }
    }
}

#[test]
fn comments_are_dropped_if_asked() {
    for (kind, text, expected) in [
        ("code:drop", "a/*b*/c//d\ne/f", "a c e / f"),
        ("code:drop", "x /* \" */ = '/*' //", "x = ' / * '"),
        ("code:rust:drop", "/*/*a*/*/b", "b"),
        ("code:c:drop", "/*/ a */ b", "b"),
        ("code:python:drop", "a # '''\nb//c", "a b // c"),
        ("code:sql:drop", "a--b\nc - -d", "a c - - d"),
        ("code:shell:drop", "#!/bin/sh\necho $#", "echo $ #"),
        ("code:rust:drop", "r#\"//\"# // a", "r # \" / / \" #"),
        ("code:c:drop", "R\"(/*)\" /* a */ b", "R \" ( / * ) \" b"),
        (
            "code:javascript:drop",
            "a = /[//]/ // b\nc",
            "a = / [ / / ] / c",
        ),
        ("code:javascript:drop", "a = /* b */ / c/ // d", "a = / c /"),
        ("code:shell:drop", "<<E # a\n# b\nE\n# c", "<< E # b E"),
        ("code:latex:drop", "a%b\n\\%c", "a \\% c"),
        ("code:drop", "/* open", ""),
    ] {
        assert_eq!(tokens(text, kind, "none"), expected, "{kind}: {text}");
    }
}

#[test]
fn literals_are_folded() {
    for (kind, text, expected) in [
        ("code", "f(\"a b\", 1.5e3, x2)", "f ( \" \" , 0 , x2 )"),
        ("code", "'\\'' + \"\" // 12 \"a\"", "' ' + \" \" // 0 a"),
        ("code:python", "'''a\nb''' 0x1F", "' ' ' ' ' ' 0"),
        ("code:go", "`a\n1` + 1", "` ` + 0"),
        ("code:rust", "r#\"a 1\"# 1", "r # \" 0"),
        ("code:c", "R\"x(a 1)x\" 1", "R \" 0"),
        ("code:javascript", "x = /[a]1/g", "x = / / g"),
        ("code:shell", "<<E\na 1\nE\n2", "<< E 0"),
        ("code", "1..2", "0 .. 0"),
    ] {
        assert_eq!(tokens(text, kind, "literals"), expected, "{kind}: {text}");
    }
}

#[test]
fn names_are_folded_and_keywords_stay() {
    for (kind, text, expected) in [
        ("code", "int sum=a1+Sum;", "int $_ = $_ + $_ ;"),
        ("code", "return f(\"f\") // f", "return $_ ( \" f \" ) // f"),
        ("code", "If if SELECT select", "$_ if SELECT select"),
        (
            "code:python",
            "record = map(range) if x",
            "$_ = $_ ( $_ ) if $_",
        ),
        (
            "code:go",
            "record := map[string]int",
            "$_ := map [ string ] int",
        ),
        ("code:java", "SELECT fn; class c", "$_ $_ ; class $_"),
        ("code:sql", "Select x From t", "Select $_ From $_"),
        ("code:rust", "'a: 'a' x", "' $_ : ' a ' $_"),
        ("code:latex", "\\sin x_1", "\\sin $_ _ 1"),
        ("code:javascript", "$_+$x", "$_ + $_"),
        ("code", "größe x\u{301} 0x1 3", "$_ $_ 0x1 3"),
        ("code:drop", "x//y\nz", "$_ $_"),
    ] {
        assert_eq!(
            tokens(text, kind, "identifiers"),
            expected,
            "{kind}: {text}"
        );
    }
}

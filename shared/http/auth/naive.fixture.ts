/**
 * The grammar of RFC 9110 section 11 for tests, transcribed rule by rule from its ABNF. Every rule returns all
 * positions at which it may end, so that the order of alternatives does not matter.
 */
type Rule = (text: string, at: number) => number[];

const unique = (ends: number[]) => [...new Set(ends)];

const char =
  (set: RegExp): Rule =>
  (text, at) =>
    at < text.length && set.test(text.charAt(at)) ? [at + 1] : [];

const seq =
  (...rules: Rule[]): Rule =>
  (text, at) =>
    rules.reduce((ends, rule) => unique(ends.flatMap((end) => rule(text, end))), [at]);

const alt =
  (...rules: Rule[]): Rule =>
  (text, at) =>
    unique(rules.flatMap((rule) => rule(text, at)));

const opt = (rule: Rule): Rule => alt(rule, (_, at) => [at]);

const many =
  (rule: Rule): Rule =>
  (text, at) => {
    const ends = new Set([at]);
    for (const end of ends) for (const next of rule(text, end)) ends.add(next);
    return [...ends];
  };

const some = (rule: Rule) => seq(rule, many(rule));

const SP = char(/ /);
const OWS = many(char(/[ \t]/));
const BWS = OWS;
const token = some(char(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/));
const quotedPair = seq(char(/\\/), char(/[\t\x20-\x7e\x80-\xff]/));
const quotedString = seq(
  char(/"/),
  many(alt(char(/[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]/), quotedPair)),
  char(/"/),
);
const token68 = seq(some(char(/[A-Za-z0-9\-._~+/]/)), many(char(/[=]/)));
const authParam = seq(token, BWS, char(/[=]/), BWS, alt(token, quotedString));
const list = (element: Rule) => seq(opt(element), many(seq(OWS, char(/,/), OWS, opt(element))));
const challenge = seq(token, opt(seq(some(SP), alt(token68, list(authParam)))));

/** Returns whether a text is `credentials` (RFC 9110 section 11.4); names of parameters may repeat. */
export function isCredentials(text: string): boolean {
  return challenge(text, 0).includes(text.length);
}

/** Returns whether a text is `#challenge` (RFC 9110 section 11.6.1); names of parameters may repeat. */
export function isChallenges(text: string): boolean {
  return list(challenge)(text, 0).includes(text.length);
}

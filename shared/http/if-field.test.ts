import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import type { EntityTag } from './etag.ts';
import { type Condition, parseCodedUrl, parseIf, type StateList } from './if-field.ts';

const T1 = 'urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2';
const T2 = 'urn:uuid:58f202ac-22cf-11d1-b12d-002035b29092';

const token = (uri: string, not = false): Condition => ({ not, token: uri });
const tag = (opaque: string, { weak = false, not = false } = {}): Condition => ({
  not,
  etag: { weak, opaque },
});
const untagged = (...conditions: Condition[]): StateList => ({ resource: undefined, conditions });

describe('RFC 4918 section 10.4: examples', () => {
  test.each<[title: string, value: string, lists: StateList[]]>([
    [
      '10.4.6 no-tag production',
      `(<${T1}> ["I-am-an-ETag"]) (["I-am-another-ETag"])`,
      [untagged(token(T1), tag('I-am-an-ETag')), untagged(tag('I-am-another-ETag'))],
    ],
    ['10.4.7 Not', `(Not <${T1}> <${T2}>)`, [untagged(token(T1, true), token(T2))]],
    [
      '10.4.8 a condition that is always true',
      `(<${T1}>) (Not <DAV:no-lock>)`,
      [untagged(token(T1)), untagged(token('DAV:no-lock', true))],
    ],
    [
      '10.4.9 a tagged list, a weak entity tag',
      `</resource1> (<${T1}> [W/"A-weak-ETag"]) (["strong-ETag"])`,
      [
        { resource: '/resource1', conditions: [token(T1), tag('A-weak-ETag', { weak: true })] },
        { resource: '/resource1', conditions: [tag('strong-ETag')] },
      ],
    ],
    [
      '10.4.10 an absolute URI',
      `<http://www.example.com/specs/> (<${T1}>)`,
      [{ resource: 'http://www.example.com/specs/', conditions: [token(T1)] }],
    ],
    [
      '10.4.11 entity tag of an unmapped URL',
      '</specs/rfc2518.doc> (Not ["4217"])',
      [{ resource: '/specs/rfc2518.doc', conditions: [tag('4217', { not: true })] }],
    ],
    [
      '10.4.2: a tag applies up to the next; white space is free between tokens',
      ` </a>(<${T1}>)\t( NOT\t["x"] )</b>(["y"]) `,
      [
        { resource: '/a', conditions: [token(T1)] },
        { resource: '/a', conditions: [tag('x', { not: true })] },
        { resource: '/b', conditions: [tag('y')] },
      ],
    ],
    ['an entity tag with brackets and parentheses', '(["]>)("])', [untagged(tag(']>)('))]],
  ])('%s', (_title, value, lists) => {
    expect(parseIf(value)).toEqual(lists);
  });

  test.each([
    ['', 'nothing'],
    ['()', 'a list without a condition'],
    [`<${T1}>`, 'a token without a list'],
    ['</a>', 'a tag without a list'],
    ['</a> </b> (["x"])', 'two tags before a list'],
    ['</a> (["x"]) </b>', 'a tag without a list after a list'],
    ['(["x"]) </a> (["y"])', 'a list without a tag before one with'],
    ['<> (["x"])', 'an empty tag'],
    ['<a/b> (["x"])', 'a relative path as tag'],
    ['</a#b> (["x"])', 'a fragment'],
    ['< /a> (["x"])', 'white space within a tag'],
    ['(</a>)', 'a path as token'],
    ['(<>)', 'an empty token'],
    ['(<urn:uuid:a b>)', 'white space within a token'],
    ['([ "x"])', 'white space within the brackets'],
    ['(["x" ])', 'white space within the brackets'],
    ['([x])', 'an entity tag without quotes'],
    ['([w/"x"])', 'a weak mark in lower case'],
    ['(["x"', 'an end missing'],
    ['(["x"]', 'an end missing'],
    ['(["x"]))', 'an end too many'],
    ['(["x"]),(["y"])', 'a comma'],
    ['(Not Not ["x"])', 'Not twice'],
    ['(Not)', 'Not of nothing'],
    ['((["x"]))', 'a list within a list'],
    ['"x"', 'an entity tag alone'],
    ['(<urn:x>\u0000)', 'a control character'],
  ])('10.4.2: %j is malformed: %s', (value) => {
    expect(parseIf(value)).toBeUndefined();
  });
});

/** A second parser: it replaces tokens by letters, and checks the result as a word of a regular language. */
function readOtherwise(value: string): readonly StateList[] | undefined {
  const pattern = /[ \t]+|\(|\)|not|<[^<>\s"#\\^`{|}]*>|\[(?:W\/)?"[^"\s]*"\]/giu;
  const tokens: string[] = [];
  let end = 0;
  for (const { 0: text, index } of value.matchAll(pattern)) {
    if (index !== end) return undefined;
    end += text.length;
    if (text.trim() !== '') tokens.push(text);
  }
  const unfit = (text: string) =>
    text.startsWith('[w') || (text.startsWith('<') ? /[^!-~]/ : /[^!-~\x80-\xff]/).test(text);
  if (end !== value.length || tokens.some(unfit)) return undefined;
  const letters = tokens.map((text) => (/^not$/i.test(text) ? '!' : text.charAt(0))).join('');
  if (!/^(?:(?:\((?:!?[<[])+\))+|(?:<(?:\((?:!?[<[])+\))+)+)$/.test(letters)) return undefined;

  const lists: { resource: string | undefined; conditions: Condition[] }[] = [];
  let resource: string | undefined;
  let within = false;
  let not = false;
  for (const text of tokens) {
    const inner = text.slice(1, -1);
    if (text === '(') lists.push({ resource, conditions: [] });
    if (text === '(' || text === ')') within = text === '(';
    else if (/^not$/i.test(text)) not = true;
    else if (!within) {
      if (!/^(?:\/|[a-z][a-z\d+.-]*:)/i.test(inner)) return undefined;
      resource = inner;
    } else {
      if (text.startsWith('<') && !/^[a-z][a-z\d+.-]*:/i.test(inner)) return undefined;
      lists
        .at(-1)
        ?.conditions.push(
          text.startsWith('<') ? { not, token: inner } : { not, etag: etagOf(inner) },
        );
      not = false;
    }
  }
  return lists;
}

function etagOf(text: string): EntityTag {
  return { weak: text.startsWith('W/'), opaque: text.slice(text.indexOf('"') + 1, -1) };
}

describe('RFC 4918 section 10.4.2: the whole grammar', () => {
  const space = fc.constantFrom('', ' ', '\t', '  ');
  const spaced = (...parts: fc.Arbitrary<string>[]) =>
    fc.tuple(...parts.flatMap((part) => [space, part]), space).map((all) => all.join(''));
  const uri = fc.constantFrom(T1, T2, 'DAV:no-lock', 'opaquelocktoken:x', 'http://h/a?b', 'a:');
  const etag = fc.constantFrom('"x"', 'W/"x"', '""', '"(<>)"', '"Not"', '"é"');
  const condition = spaced(
    fc.constantFrom('', 'Not', 'not'),
    fc.oneof(
      uri.map((one) => `<${one}>`),
      etag.map((one) => `[${one}]`),
    ),
  );
  const list = fc
    .array(condition, { minLength: 1, maxLength: 4 })
    .map((all) => `(${all.join('')})`);
  const lists = fc.array(spaced(list), { minLength: 1, maxLength: 4 }).map((all) => all.join(''));
  const simpleRef = fc.constantFrom('/', '/a/b%20c?q', 'http://h:1/', 'urn:x');
  const tagged = spaced(
    simpleRef.map((ref) => `<${ref}>`),
    lists,
  );
  const field = fc.oneof(
    lists,
    fc.array(tagged, { minLength: 1, maxLength: 4 }).map((all) => all.join('')),
  );

  test('every value of the grammar is read, and a second parser reads the same', () => {
    fc.assert(
      fc.property(field, (value) => {
        expect(parseIf(value)).toBeDefined();
        expect(parseIf(value)).toEqual(readOtherwise(value));
      }),
      { numRuns: 2000 },
    );
  });

  test('pieces of the grammar in any order are read or refused by both parsers alike', () => {
    const alone = ['(', ')', '[', ']', '<', '>', '"', 'Not', ' ', '/', 'a:', 'W/', ',', '#', 'é'];
    const whole = ['["x"]', '<a:b>', '</a>', '(<a:b>)', '(["x"])', '\u0000'];
    const pieces = fc.constantFrom(...alone, ...whole);
    const value = fc.array(pieces, { maxLength: 12 }).map((all) => all.join(''));
    fc.assert(
      fc.property(value, (text) => {
        expect(parseIf(text)).toEqual(readOtherwise(text));
      }),
      { numRuns: 5000 },
    );
  });

  test('any string gives a result without an exception', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(parseIf(text)).toEqual(readOtherwise(text));
      }),
    );
  });

  test.each<[title: string, fieldOf: (conditions: number) => string]>([
    ['in one list', (conditions) => `(${'<a:b>'.repeat(conditions)})`],
    ['in a list each', (conditions) => '(Not["x"])'.repeat(conditions)],
    ['of a resource each', (conditions) => '</a>(["x"])'.repeat(conditions)],
    ['in two lists', (conditions) => `(${'["x"]'.repeat(conditions - 1)})(<a:b>)`],
  ])(
    'RFC 9110 section 5.4: 256 conditions are read, and 257 are refused: %s',
    (_title, fieldOf) => {
      expect(parseIf(fieldOf(256))?.flatMap(({ conditions }) => conditions)).toHaveLength(256);
      expect(parseIf(fieldOf(257))).toBeUndefined();
      expect(parseIf(fieldOf(10_000))).toBeUndefined();
    },
  );

  test('a long text that is almost a list is refused', () => {
    expect(parseIf('('.repeat(100_000))).toBeUndefined();
    expect(parseIf(`(${'<a:'.repeat(50_000)}`)).toBeUndefined();
    expect(parseIf(`([${'"'.repeat(100_000)}`)).toBeUndefined();
    expect(parseIf(`(${' '.repeat(100_000)}`)).toBeUndefined();
  });
});

describe('RFC 4918 section 10.5: Coded-URL', () => {
  test('a Coded-URL is the whole value', () => {
    expect(parseCodedUrl(`<${T1}>`)).toBe(T1);
  });

  test.each(['', T1, `<${T1}`, `<${T1}> `, `<${T1}><${T2}>`, '</path>', '<urn:uuid:a b>', '<>'])(
    '%j is no Coded-URL',
    (value) => {
      expect(parseCodedUrl(value)).toBeUndefined();
    },
  );
});

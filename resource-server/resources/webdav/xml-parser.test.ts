import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { elementsOf } from './xml-element.ts';
import { parseXml } from './xml-parser.ts';

/** The status with which a document is refused. */
function refusal(text: string): number {
  try {
    parseXml(text);
  } catch (error) {
    if (error instanceof HttpError || error instanceof BadRequest) return error.status;
    throw error;
  }
  return 200;
}

describe('RFC 4918 section 8.2: XML that is not well-formed or misuses namespaces is refused', () => {
  test.each([
    ['nothing', ''],
    ['white space', ' \n '],
    ['no XML', 'allprop'],
    ['JSON', '{"a":1}'],
    ['an element that is not closed', '<a>'],
    ['elements that cross', '<a><b></a></b>'],
    ['two roots', '<a/><b/>'],
    ['text after the root', '<a/>b'],
    ['text before the root', 'b<a/>'],
    ['an end without a beginning', '</a>'],
    ['an attribute twice', '<a b="1" b="2"/>'],
    ['one attribute by two prefixes', '<a xmlns:p="u" xmlns:q="u" p:x="1" q:x="2"/>'],
    ['a namespace twice', '<a xmlns:p="u" xmlns:p="v"/>'],
    ['an attribute without quotes', '<a b=1/>'],
    ['an attribute without a value', '<a b/>'],
    ['< in an attribute', '<a b="<"/>'],
    ['a bare &', '<a>&</a>'],
    ['an unknown entity', '<a>&nbsp;</a>'],
    ['an entity named like a property of all objects', '<a>&constructor;</a>'],
    ['an entity named like the prototype', '<a>&__proto__;</a>'],
    [']]> in text', '<a>]]></a>'],
    ['CDATA that does not end', '<a><![CDATA[b</a>'],
    ['CDATA outside the root', '<![CDATA[a]]><a/>'],
    ['-- in a comment', '<a><!-- b -- c --></a>'],
    ['a declaration that comes late', '<a/><?xml version="1.0"?>'],
    ['a NUL', '<a>\0</a>'],
    ['a reference to NUL', '<a>&#0;</a>'],
    ['a reference to a control character', '<a>&#1;</a>'],
    ['the same in XML 1.1', '<?xml version="1.1"?><a>&#1;</a>'],
    ['a reference to half a surrogate pair', '<a>&#xD800;</a>'],
    ['half a surrogate pair', '<a>\uD800</a>'],
    ['half a surrogate pair in a declaration, where it ends', '<!ENTITY\uD800'],
    ['a reference to no character', '<a>&#xFFFE;</a>'],
    ['a reference past Unicode', '<a>&#x110000;</a>'],
    ['a prefix that nothing declares', '<D:a/>'],
    ['a prefix of an attribute that nothing declares', '<a D:b="c"/>'],
    ['a prefix that is declared beside', '<a><b xmlns:p="u"/><p:c/></a>'],
    ['a prefix bound to nothing', '<a xmlns:p=""/>'],
    ['two colons', '<a:b:c xmlns:a="u"/>'],
    ['an empty prefix', '<:a/>'],
    ['a local name that begins with a digit', '<p:1 xmlns:p="u"/>'],
    ['an attribute whose local name begins with a dash', '<a xmlns:p="u" p:-b="1"/>'],
    ['a name past the first plane, as the fifth edition has it', '<\u{10000}/>'],
    ['such a character within a name', '<a\u{1F600}/>'],
    ['such a prefix', '<\u{20000}:a xmlns:\u{20000}="u"/>'],
    ['such a prefix that nothing uses', '<a xmlns:\u{20000}="u"/>'],
    ['such an attribute', '<a \u{20000}="u"/>'],
    ['such an attribute with a prefix', '<a xmlns:p="u" p:\u{20000}="u"/>'],
    ['a letter that only the fifth edition has', '<\uA000/>'],
    ['another one', '<p:a\u13A0 xmlns:p="u"/>'],
    ['a name that begins with a mark, which only the fifth edition lets it', '<\u0903/>'],
    ['the prefix xmlns on an element', '<xmlns:a/>'],
    ['another namespace for xml', '<a xmlns:xml="u"/>'],
    [
      'another prefix for the namespace of xml',
      '<a xmlns:p="http://www.w3.org/XML/1998/namespace"/>',
    ],
    ...Array.from('"<>\\^`{|} \t\n\u0085', (character): [string, string] => [
      `a namespace that is no URI, with ${JSON.stringify(character)}`,
      `<a xmlns="u&#${character.codePointAt(0)};v"/>`,
    ]),
    ['such a namespace of a prefix that nothing uses', '<a xmlns:p="u}"/>'],
    ['the namespace of declarations', '<a xmlns="http://www.w3.org/2000/xmlns/"/>'],
  ])('%s is 400', (_, text) => {
    expect(refusal(text)).toBe(400);
  });

  test('the error says where, and repeats nothing of the content', () => {
    expect(() => parseXml('<a>\n<secret></a>')).toThrow(
      new BadRequest('The XML is not well-formed at line 2, column 12.'),
    );
  });
});

describe('RFC 4918 section 20.6: no document type declaration, no expansion', () => {
  const LAUGHS = Array.from(
    { length: 9 },
    (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`,
  ).join('');

  test.each([
    ['a billion laughs', `<!DOCTYPE a [<!ENTITY l0 "ha">${LAUGHS}]><a>&l9;</a>`, 400],
    ['an entity that is not used', '<!DOCTYPE a [<!ENTITY b "c">]><a/>', 400],
    ['an empty one', '<!DOCTYPE a><a/>', 400],
    ['a parameter entity', '<!DOCTYPE a [<!ENTITY % b "c"> %b;]><a/>', 400],
    ['a document within a document', '<a><!DOCTYPE b><b/></a>', 400],
    ['one that does not end', '<!DOCTYPE a [', 400],
    ['a file', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', 403],
    ['a URL', '<!DOCTYPE a [<!ENTITY b SYSTEM "http://127.0.0.1/">]><a>&b;</a>', 403],
    ['a public identifier', '<!DOCTYPE a [<!ENTITY b PUBLIC "p" "http://x/">]><a>&b;</a>', 403],
    ['an external subset', '<!DOCTYPE a SYSTEM "http://127.0.0.1/a.dtd"><a/>', 403],
    [
      'an external parameter entity',
      '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://x/"> %b;]><a/>',
      403,
    ],
  ])('a document type declaration with %s is refused', (_, text, status) => {
    expect(refusal(text)).toBe(status);
  });

  test('section 16: the refusal of a document type declaration has the condition code', () => {
    expect(() => parseXml('<!DOCTYPE a SYSTEM "x"><a/>')).toThrow(
      expect.objectContaining({
        content: {
          type: 'application/xml; charset="utf-8"',
          body: '<?xml version="1.0" encoding="utf-8"?>\n<D:error xmlns:D="DAV:"><D:no-external-entities/></D:error>',
        },
      }),
    );
  });
});

describe('limits', () => {
  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  const attributes = (count: number) =>
    Array.from({ length: count }, (_, index) => ` a${index}=""`).join('');
  const namespaces = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ` xmlns:p${from + index}="u"`).join('');

  test.each([
    ['depth', nested(50), nested(51)],
    ['elements', `<a>${'<b/>'.repeat(9_999)}</a>`, `<a>${'<b/>'.repeat(10_000)}</a>`],
    ['attributes', `<a${attributes(100)}/>`, `<a${attributes(101)}/>`],
    [
      'namespaces within one another',
      `<a${namespaces(0, 60)}><b${namespaces(60, 40)}/></a>`,
      `<a${namespaces(0, 60)}><b${namespaces(60, 41)}/></a>`,
    ],
    ['names', `<${'a'.repeat(1024)}/>`, `<${'a'.repeat(1025)}/>`],
    ['URIs', `<a xmlns="${'u'.repeat(1024)}"/>`, `<a xmlns="${'u'.repeat(1025)}"/>`],
    [
      'URIs that nothing uses',
      `<a xmlns:p="${'u'.repeat(1024)}"/>`,
      `<a xmlns:p="${'u'.repeat(1025)}"/>`,
    ],
  ])('a document with %s is refused', (_, most, more) => {
    expect(refusal(most)).toBe(200);
    expect(refusal(more)).toBe(400);
  });
});

describe('reading a document', () => {
  test('namespaces are resolved for any prefix', () => {
    const { namespace, name, prefix, children } = parseXml(
      '<a:b xmlns:a="DAV:"><c xmlns="u"/><d/><a:e xmlns:a="v"/></a:b>',
    );
    expect({ namespace, name, prefix }).toEqual({ namespace: 'DAV:', name: 'b', prefix: 'a' });
    expect(children).toEqual([
      expect.objectContaining({ namespace: 'u', name: 'c', prefix: '' }),
      expect.objectContaining({ namespace: '', name: 'd', prefix: '' }),
      expect.objectContaining({ namespace: 'v', name: 'e', prefix: 'a' }),
    ]);
  });

  test('a namespace declaration applies within its element, not after it', () => {
    const root = parseXml('<a xmlns="u" xml:lang="en"><b xmlns="v" xml:lang="de"/><c/></a>');
    expect(elementsOf(root).map(({ namespace, scope }) => [namespace, scope.language])).toEqual([
      ['v', 'de'],
      ['u', 'en'],
    ]);
  });

  test('a prefix may have the name of a member of Object.prototype', () => {
    const root = parseXml('<__proto__:a xmlns:__proto__="u" __proto__:b="c" constructor="d"/>');
    expect(root).toMatchObject({ namespace: 'u', name: 'a' });
    expect(root.attributes).toEqual([
      { namespace: 'u', prefix: '__proto__', name: 'b', value: 'c' },
      { namespace: '', prefix: '', name: 'constructor', value: 'd' },
    ]);
  });

  test('adjacent text is joined, whether or not it is CDATA; comments and instructions are ignored (section 17)', () => {
    const root = parseXml('<a> 1&lt;<!-- x -->2<![CDATA[<3>]]><?php exit ?>&#x1F600;\r\n</a>');
    expect(root.children).toEqual([' 1<2<3>\u{1F600}\n']);
  });

  test('the parser accepts names in the letters that all editions of XML 1.0 share', () => {
    for (const name of ['grüße', 'été', 'имя', 'ελ', '名前', '이름', 'ไทย', 'कि', '_a-b.c1']) {
      expect(parseXml(`<${name} ${name}=""/>`)).toMatchObject({ name, attributes: [{ name }] });
    }
  });

  test('the parser accepts IRIs as namespaces, including relative ones', () => {
    for (const namespace of [
      '',
      'DAV:',
      'urn:a',
      "http://[::1]/ü?a=b%7D&c='d'#e",
      '../*,;@!$(~)',
    ]) {
      const written = namespace.replace('&', '&amp;');
      expect(parseXml(`<a xmlns="${written}"/>`)).toMatchObject({ namespace });
    }
  });

  test('a document with too many tags is refused before parsing', () => {
    // The first tag is malformed, but the parser never reads it.
    expect(() => parseXml(`<a<${'<b/>'.repeat(21_000)}`)).toThrow('more than 10000 elements');
    expect(() => parseXml(`<a>${'<b>'.repeat(1_000_000)}`)).toThrow('more than 10000 elements');
    expect(parseXml(`<a>${'<b></b>'.repeat(9_999)}</a>`).children).toHaveLength(9_999);
  });

  test('a document is parsed correctly if a slice ends anywhere, even within a tag or a surrogate pair', () => {
    const piece = '<b c="1&amp;2">\u{1F600}\r\n<![CDATA[x]]>&#x1F600;</b>';
    for (let before = 0; before < piece.length; before += 1) {
      const text = `<a>${' '.repeat(4096 - 3 - before)}${piece}</a>`;
      expect(parseXml(text).children.slice(1)).toMatchObject([
        { name: 'b', attributes: [{ value: '1&2' }], children: ['\u{1F600}\nx\u{1F600}'] },
      ]);
    }
  });

  test('the parser preserves white space between elements', () => {
    expect(parseXml('<a> <b/>\n</a>').children).toEqual([' ', expect.anything(), '\n']);
  });
});

test('any text is parsed as XML or refused with 4xx', () => {
  const parts = fc.constantFrom(
    ...'< > </ /> <a <a> </a> b=" " xmlns:p="u" <p:a xmlns="" & &amp; &# x41; ;'.split(' '),
    ...'<!-- --> <![CDATA[ ]]> <?xml ?> <!DOCTYPE [ ] <!ENTITY : \uFEFF \uD800 __proto__ ü'.split(
      ' ',
    ),
    ...' \0\t\n'.split(''),
  );
  const text = fc.array(fc.oneof(parts, anyText()), { maxLength: 30 });
  fc.assert(
    fc.property(text, (pieces) => {
      expect([200, 400, 403]).toContain(refusal(pieces.join('')));
    }),
    { numRuns: 3000 },
  );
});

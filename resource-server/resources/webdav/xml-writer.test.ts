import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { davChild, elementsOf, type XmlElement } from './xml-element.ts';
import { parseXml } from './xml-parser.ts';
import { davDocument, davHref, emptyElement, escapeText, writeXml } from './xml-writer.ts';

/** The property in the only DAV:prop of a document. */
function propertyIn(document: string): XmlElement {
  const [property] = elementsOf(parseXml(document));
  if (property === undefined) throw new Error('no property');
  return property;
}

/** Parses the markup as a client does when it is sent among other properties. */
function sent(markup: string): XmlElement {
  const document = davDocument('prop', '<D:before/>', markup, '<D:after/>');
  const [before, property, after, ...more] = elementsOf(parseXml(document));
  expect([before?.name, after?.name, more]).toEqual(['before', 'after', []]);
  if (property === undefined) throw new Error('no property');
  return property;
}

/** The parts that RFC 4918 section 4.3 requires to preserve, prefixes included, and the language. */
function kept({ namespace, name, prefix, attributes, children, scope }: XmlElement): object {
  return {
    namespace,
    name,
    prefix,
    language: scope.language,
    attributes: attributes.filter((one) => one.prefix !== 'xml' || one.name !== 'lang'),
    children: children.map((child) => (typeof child === 'string' ? child : kept(child))),
  };
}

describe('RFC 4918 section 4.3: a stored property is preserved', () => {
  test.each([
    [
      'its namespace, from where it was declared',
      '<p xmlns:a="u"><a:b/></p>',
      '<a:b xmlns:a="u"/>',
    ],
    ['no namespace', '<D:p xmlns:D="DAV:"><b/></D:p>', '<b xmlns:D="DAV:"/>'],
    ['the default namespace', '<p xmlns="u"><b/></p>', '<b xmlns="u"/>'],
    [
      'no default namespace within one',
      '<p><b xmlns="u"><c xmlns=""/></b></p>',
      '<b xmlns="u"><c xmlns=""/></b>',
    ],
    [
      'one prefix for two namespaces',
      '<p xmlns:a="u"><a:b><a:c xmlns:a="v"/><a:d/></a:b></p>',
      '<a:b xmlns:a="u"><a:c xmlns:a="v"/><a:d/></a:b>',
    ],
    [
      'a prefix that its text alone uses',
      '<p xmlns:xs="s"><a>xs:int</a></p>',
      '<a xmlns:xs="s">xs:int</a>',
    ],
    ['xml:lang from around it', '<p xml:lang="en"><a>b</a></p>', '<a xml:lang="en">b</a>'],
    ['its own xml:lang', '<p xml:lang="en"><a xml:lang="de">b</a></p>', '<a xml:lang="de">b</a>'],
    [
      'that its language is unknown',
      '<p xml:lang="en"><a xml:lang="">b</a></p>',
      '<a xml:lang="">b</a>',
    ],
    [
      'attributes',
      `<p><a b='"' c="&apos;&#9;&#10;&#13;&lt;>"/></p>`,
      `<a b="&quot;" c="'&#9;&#10;&#13;&lt;&gt;"/>`,
    ],
    [
      'attributes with namespaces',
      '<p xmlns:n="u"><a n:b="c" b="d"/></p>',
      '<a xmlns:n="u" n:b="c" b="d"/>',
    ],
    ['white space', '<p><a> b\n\t<c/> </a></p>', '<a> b\n\t<c/> </a>'],
    ['carriage returns', '<p><a>b&#13;\n</a></p>', '<a>b&#13;\n</a>'],
    [
      'CDATA as text',
      '<p><a><![CDATA[<b>&]]]]><![CDATA[>]]></a></p>',
      '<a>&lt;b&gt;&amp;]]&gt;</a>',
    ],
    ['characters past the first plane', '<p><a>&#x1F600;</a></p>', '<a>\u{1F600}</a>'],
    [
      'xml:space, without heeding it',
      '<p><a xml:space="default"> </a></p>',
      '<a xml:space="default"> </a>',
    ],
  ])('a stored property is preserved with %s', (_, stored, markup) => {
    expect(writeXml(propertyIn(stored))).toBe(markup);
    expect(kept(sent(markup))).toEqual(kept(propertyIn(stored)));
  });

  test('the example of RFC 4918 section 4.3.1 is preserved', () => {
    const author = propertyIn(`
      <D:prop xml:lang="en" xmlns:D="DAV:">
        <x:author xmlns:x='http://example.com/ns'>
          <x:name>Jane Doe</x:name>
          <!-- Jane's contact info -->
          <x:uri type='email' added='2005-11-26'>mailto:jane.doe@example.com</x:uri>
          <x:notes xmlns:h='http://www.w3.org/1999/xhtml'>
            Jane has been working way <h:em>too</h:em> long on the
            long-awaited revision of <![CDATA[<RFC2518>]]>.
          </x:notes>
        </x:author>
      </D:prop>`);
    const markup = writeXml(author);
    expect(kept(sent(markup))).toEqual(kept(author));
    expect(sent(markup).scope.language).toBe('en');
    expect(markup).toContain('long-awaited revision of &lt;RFC2518&gt;.');
  });
});

describe('a stored property cannot end the markup around it', () => {
  test.each([
    ['text', '<a>&lt;/D:prop>&lt;D:href>x&lt;/D:href></a>'],
    ['an attribute', '<a b="&quot;/>&lt;D:after xmlns:D=&apos;e&apos;/>"/>'],
    ['the URI of a namespace', `<a xmlns="'/&amp;lt;D:x/&amp;#34;"/>`],
    ['the URI of a prefix', `<p:a xmlns:p="'/&amp;lt;D:x/&amp;#34;"/>`],
    ['the language', '<a xml:lang="&quot;/>&lt;D:x/>"/>'],
    ['CDATA', '<a><![CDATA[</a><D:x/>]]></a>'],
    ['our prefix for another namespace', '<D:prop xmlns:D="evil"><D:href/></D:prop>'],
    [
      'our namespace by another prefix',
      '<prop xmlns="DAV:"><status>HTTP/1.1 500 x</status></prop>',
    ],
  ])('a stored property cannot inject markup by %s', (_, property) => {
    const stored = propertyIn(`<p>${property}</p>`);
    expect(kept(sent(writeXml(stored)))).toEqual(kept(stored));
  });

  test.each([
    [{ namespace: 'DAV:', name: 'a' }, '<D:a/>'],
    [{ namespace: '', name: 'a' }, '<a/>'],
    [{ namespace: "'&lt;D:x/", name: 'a' }, `<P:a xmlns:P="'&amp;lt;D:x/"/>`],
    [{ namespace: 'http://www.w3.org/XML/1998/namespace', name: 'lang' }, '<xml:lang/>'],
  ])('the name of a property cannot inject markup: %j', (name, markup) => {
    expect(emptyElement(name)).toBe(markup);
    expect(sent(markup)).toMatchObject(name);
  });

  test('text and references cannot inject markup', () => {
    fc.assert(
      fc.property(text(), (value) => {
        const characters = value === '' ? [] : [value];
        const root = parseXml(davDocument('prop', davHref(value)));
        expect(davChild(root, 'href')?.children).toEqual(characters);
        expect(parseXml(`<a>${escapeText(value)}</a>`).children).toEqual(characters);
      }),
    );
  });
});

test('writing and parsing an element again and again preserves it', () => {
  fc.assert(
    fc.property(element(), (generated) => {
      const parsed = propertyIn(`<p xml:lang="en" xmlns="p" xmlns:D="d">${naive(generated)}</p>`);
      expect(bare(parsed)).toEqual(generated);
      const once = writeXml(parsed);
      expect(kept(sent(once))).toEqual(kept(parsed));
      expect(kept(parseXml(once))).toEqual(kept(parsed));
    }),
    { numRuns: 500 },
  );
});

interface Bare {
  readonly namespace: string;
  readonly name: string;
  readonly attributes: readonly { namespace: string; name: string; value: string }[];
  readonly children: readonly (Bare | string)[];
}

function bare({ namespace, name, attributes, children }: XmlElement): Bare {
  return {
    namespace,
    name,
    attributes: attributes.map((one) => ({
      namespace: one.namespace,
      name: one.name,
      value: one.value,
    })),
    children: children.map((child) => (typeof child === 'string' ? child : bare(child))),
  };
}

/** A writer that declares each namespace where it is used, and writes each character by its number. */
function naive({ namespace, name, attributes, children }: Bare): string {
  const numbers = (value: string) =>
    Array.from(value, (one) => `&#${one.codePointAt(0)};`).join('');
  const tag = namespace === '' ? name : `D:${name}`;
  const declared = namespace === '' ? ' xmlns=""' : ` xmlns:D="${numbers(namespace)}"`;
  const said = attributes.map((one, index) =>
    one.namespace === ''
      ? ` ${one.name}="${numbers(one.value)}"`
      : ` xmlns:n${index}="${numbers(one.namespace)}" n${index}:${one.name}="${numbers(one.value)}"`,
  );
  const content = children.map((child) =>
    typeof child === 'string' ? numbers(child) : naive(child),
  );
  return `<${tag}${declared}${said.join('')}>${content.join('')}</${tag}>`;
}

function element(): fc.Arbitrary<Bare> {
  const namespace = fc.constantFrom(
    '',
    'DAV:',
    'u',
    'd',
    'p',
    "'&lt;D:x/&#34;",
    'urn:schemas-microsoft-com:',
  );
  const name = fc.constantFrom(
    'a',
    'b',
    'prop',
    'href',
    'D',
    'xmlnsx',
    '__proto__',
    'é',
    '_',
    'a.b-c',
  );
  const attribute = fc.record({ namespace, name, value: text() });
  const { whole } = fc.letrec<{ whole: Bare }>((tie) => ({
    whole: fc.record({
      namespace,
      name,
      attributes: fc.uniqueArray(attribute, {
        maxLength: 3,
        selector: (one) => `${one.namespace} ${one.name}`,
      }),
      children: fc
        .array(fc.oneof({ maxDepth: 4 }, text(), tie('whole')), { maxLength: 4 })
        .map(merged),
    }),
  }));
  return whole;
}

/** Joins adjacent text, and drops empty text. */
function merged(children: readonly (Bare | string)[]): (Bare | string)[] {
  const all: (Bare | string)[] = [];
  for (const child of children) {
    const last = all.at(-1);
    if (typeof child === 'string' && typeof last === 'string') all.splice(-1, 1, last + child);
    else if (child !== '') all.push(child);
  }
  return all;
}

/** Characters that XML 1.0 has. */
function text(): fc.Arbitrary<string> {
  const character = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...'<>&"\']]>\t\n\r &;:#/=?!-['.split('')) },
    {
      weight: 1,
      arbitrary: anyText({ minLength: 1, maxLength: 1 }).filter(isXml),
    },
  );
  return fc.array(character, { maxLength: 12 }).map((all) => all.join(''));
}

function isXml(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return code >= 0x20 && !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfffe && code !== 0xffff;
}

import { describe, expect, test } from '@jest/globals';
import { HttpError } from '#shared/http/answer.ts';
import { propertyInstructions, updateProperties } from './property-update.ts';
import { parseXml } from './xml-parser.ts';

/** Instructions of a DAV:propertyupdate with this content. */
function asked(content: string) {
  return propertyInstructions(
    parseXml(`<D:propertyupdate xmlns:D="DAV:" xmlns:x="x">${content}</D:propertyupdate>`),
  );
}

const set = (...properties: readonly string[]) =>
  `<D:set><D:prop>${properties.join('')}</D:prop></D:set>`;
const remove = (...properties: readonly string[]) =>
  `<D:remove><D:prop>${properties.join('')}</D:prop></D:remove>`;

describe('RFC 4918 section 14.19: reading the instructions', () => {
  test('instructions are read in the order of the document (section 9.2)', () => {
    const instructions = asked(
      set('<x:a/>', '<x:b/>') + remove('<x:a/>') + set('<x:c/>') + remove('<x:d/>', '<x:e/>'),
    );
    expect(instructions.map(({ kind, element }) => [kind, element.name])).toEqual([
      ['set', 'a'],
      ['set', 'b'],
      ['remove', 'a'],
      ['set', 'c'],
      ['remove', 'd'],
      ['remove', 'e'],
    ]);
  });

  test('section 17: unknown elements are ignored', () => {
    const instructions = asked(
      `<x:set><D:prop><x:a/></D:prop></x:set><D:set x:b="c"><x:prop><x:d/></x:prop>` +
        `<D:prop><x:e/></D:prop></D:set><D:other><D:prop><x:f/></D:prop></D:other>`,
    );
    expect(instructions.map(({ element }) => element.name)).toEqual(['e']);
  });

  test.each([
    ['nothing', '<D:propertyupdate xmlns:D="DAV:"/>'],
    ['no property', '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop/></D:set></D:propertyupdate>'],
    [
      'a property without DAV:prop',
      '<propertyupdate xmlns="DAV:"><set><a/></set></propertyupdate>',
    ],
    [
      'another element',
      '<D:propfind xmlns:D="DAV:"><D:set><D:prop><a/></D:prop></D:set></D:propfind>',
    ],
    ['another namespace', '<propertyupdate><set><prop><a/></prop></set></propertyupdate>'],
  ])('a property update with %s is 422', (_, text) => {
    expect(() => propertyInstructions(parseXml(text))).toThrow(
      expect.objectContaining({ constructor: HttpError, status: 422 }),
    );
  });
});

describe('RFC 4918 section 9.2: all or nothing', () => {
  const before = { '{x}a': '<a xmlns="x">old</a>', '{y}b': '<b xmlns="y"/>' };

  test('an update sets, replaces and removes properties', () => {
    const { properties, propstats } = updateProperties(
      before,
      asked(set('<x:a>new</x:a>', '<x:c/>') + remove('<b xmlns="y"/>')),
    );
    expect(properties).toEqual({
      '{x}a': '<x:a xmlns:D="DAV:" xmlns:x="x">new</x:a>',
      '{x}c': '<x:c xmlns:D="DAV:" xmlns:x="x"/>',
    });
    expect(propstats).toEqual([
      {
        status: 200,
        properties: ['<P:a xmlns:P="x"/>', '<P:c xmlns:P="x"/>', '<P:b xmlns:P="y"/>'],
      },
    ]);
  });

  test('the last instruction about a property applies, and the property is answered once', () => {
    const first = updateProperties({}, asked(set('<x:a>1</x:a>') + remove('<x:a/>')));
    expect(first.properties).toEqual({});
    expect(first.propstats).toEqual([{ status: 200, properties: ['<P:a xmlns:P="x"/>'] }]);
    const second = updateProperties(before, asked(remove('<x:a/>') + set('<x:a>2</x:a>')));
    expect(second.properties?.['{x}a']).toContain('>2<');
  });

  test('removed properties make room for new properties, in any order', () => {
    const long = `<x:c>${'v'.repeat(30_000)}</x:c>`;
    const { properties: full = {} } = updateProperties({}, asked(set(long)));
    const another = long.replaceAll('x:c', 'x:d');
    expect(updateProperties(full, asked(set(another))).properties).toBeUndefined();
    for (const both of [set(another) + remove('<x:c/>'), remove('<x:c/>') + set(another)]) {
      expect(Object.keys(updateProperties(full, asked(both)).properties ?? {})).toEqual(['{x}d']);
    }
  });

  test('removing a missing property is no error (section 14.23)', () => {
    expect(updateProperties(before, asked(remove('<x:z/>')))).toMatchObject({
      properties: before,
      propstats: [{ status: 200 }],
    });
  });

  test.each([
    'creationdate',
    'getcontentlength',
    'getcontenttype',
    'getetag',
    'getlastmodified',
    'lockdiscovery',
    'quota-available-bytes',
    'quota-used-bytes',
    'resourcetype',
    'supportedlock',
  ])('DAV:%s is protected, so the other properties of the update get 424', (name) => {
    for (const change of [set, remove]) {
      const { properties, propstats } = updateProperties(
        before,
        asked(set('<x:c/>') + change(`<D:${name}/>`) + remove('<x:a/>')),
      );
      expect(properties).toBeUndefined();
      expect(propstats).toEqual([
        { status: 424, properties: ['<P:c xmlns:P="x"/>', '<P:a xmlns:P="x"/>'] },
        {
          status: 403,
          properties: [`<D:${name}/>`],
          condition: '<D:cannot-modify-protected-property/>',
        },
      ]);
    }
  });

  test.each([
    ['DAV:displayname', '<D:displayname>Report</D:displayname>', '{DAV:}displayname'],
    [
      'the properties of Windows',
      '<w:Win32LastModifiedTime xmlns:w="urn:schemas-microsoft-com:">Tue</w:Win32LastModifiedTime>',
      '{urn:schemas-microsoft-com:}Win32LastModifiedTime',
    ],
    ['getetag of another namespace', '<x:getetag/>', '{x}getetag'],
    ['getetag of no namespace', '<getetag/>', '{}getetag'],
    ['a property with the name of a member of Object.prototype', '<__proto__/>', '{}__proto__'],
  ])('%s is not protected', (_, property, key) => {
    expect(Object.keys(updateProperties({}, asked(set(property))).properties ?? {})).toEqual([key]);
  });
});

describe('limits', () => {
  const property = (name: string, length: number) => `<${name}>${'v'.repeat(length)}</${name}>`;
  const OVERHEAD = Buffer.byteLength('<a xmlns:D="DAV:" xmlns:x="x"></a>');

  test('RFC 4918 section 9.2.1: dead properties have 32 KiB per resource, names included; more is 507', () => {
    const most = 32 * 1024 - OVERHEAD - '{}a'.length;
    expect(updateProperties({}, asked(set(property('a', most)))).properties).toBeDefined();
    expect(updateProperties({}, asked(set('<x:b/>', property('a', most + 1))))).toEqual({
      properties: undefined,
      propstats: [
        { status: 424, properties: ['<P:b xmlns:P="x"/>'] },
        { status: 507, properties: ['<a/>'] },
      ],
    });
  });

  test('the limit applies to the sum of several requests, in bytes instead of characters', () => {
    const before = { '{}a': property('a', 16_000), '{}b': property('b', 16_000) };
    const left = 32 * 1024 - 2 * Buffer.byteLength(`{}a${property('a', 16_000)}`);
    const most = left - OVERHEAD - '{}e'.length;
    const status = (content: string) =>
      updateProperties(before, asked(content)).propstats.map((one) => one.status);
    expect(status(set(property('e', most)))).toEqual([200]);
    expect(status(set(property('e', most + 1)))).toEqual([507]);
    expect(status(set(`<e>${'ü'.repeat(most / 2 + 1)}</e>`))).toEqual([507]);
    expect(status(set(property('a', 15_000)))).toEqual([200]);
    expect(status(set(property('a', 20_000)))).toEqual([507]);
  });

  test('more than 256 properties in a request are 413', () => {
    const names = Array.from({ length: 257 }, (_, index) => `<p${index}/>`);
    expect(asked(set(...names.slice(1)))).toHaveLength(256);
    const tooMuch = expect.objectContaining({ constructor: HttpError, status: 413 });
    expect(() => asked(set(...names))).toThrow(tooMuch);
    expect(() => asked(set(...names.slice(2)) + remove('<a/>', '<b/>'))).toThrow(tooMuch);
    expect(() => asked(set('<a/>'.repeat(257)))).toThrow(tooMuch);
  });

  test('namespaces cannot turn a small request into a large answer or many stored bytes', () => {
    const namespaces = Array.from(
      { length: 90 },
      (_, index) => ` xmlns:n${index}="${'u'.repeat(1000)}"`,
    );
    const names = Array.from({ length: 256 }, (_, index) => `<p${index}/>`);
    const root = parseXml(
      `<D:propertyupdate xmlns:D="DAV:"${namespaces.join('')}>` +
        `<D:set><D:prop>${names.join('')}</D:prop></D:set></D:propertyupdate>`,
    );
    const { properties, propstats } = updateProperties({}, propertyInstructions(root));
    expect(properties).toBeUndefined();
    expect(propstats.map(({ status }) => status)).toEqual([507, 424]);
    expect(JSON.stringify(propstats).length).toBeLessThan(5000);
  });
});

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { contentDigest } from '#shared/server/content/content.ts';
import { readXml } from './xml.ts';

const MEBIBYTE = 1024 * 1024;

/** A request with these fields, whose content arrives in these pieces. */
function requestOf(fields: Readonly<Record<string, string>>, ...pieces: readonly Buffer[]) {
  const request = new IncomingMessage(new Socket());
  for (const [name, value] of Object.entries(fields)) {
    request.rawHeaders.push(name, value);
    request.headers[name.toLowerCase()] = value;
  }
  for (const piece of pieces) request.push(piece);
  request.push(null);
  request.complete = true;
  return request;
}

async function read(content: string | Buffer, fields: Readonly<Record<string, string>> = {}) {
  return readXml(requestOf(fields, Buffer.from(content)), 'alice');
}

/** The status of a refusal. */
async function refusal(...asked: Parameters<typeof read>): Promise<number> {
  try {
    await read(...asked);
  } catch (error) {
    if (error instanceof HttpError || error instanceof BadRequest) return error.status;
    throw error;
  }
  return 200;
}

function utf16(text: string, order: 'LE' | 'BE', mark = true): Buffer {
  const bytes = Buffer.from(`${mark ? '\uFEFF' : ''}${text}`, 'utf16le');
  return order === 'LE' ? bytes : bytes.swap16();
}

test('a request without content has no XML element, whatever its type', async () => {
  await expect(readXml(requestOf({}), 'alice')).resolves.toBeUndefined();
  await expect(
    readXml(requestOf({ 'Content-Type': 'text/html' }), 'alice'),
  ).resolves.toBeUndefined();
});

test('XML content that arrives byte by byte is read', async () => {
  const pieces = [...Buffer.from('<a>\u{1F600}</a>')].map((byte) => Buffer.from([byte]));
  const root = await readXml(requestOf({}, ...pieces), 'alice');
  expect(root?.children).toEqual(['\u{1F600}']);
});

test('XML content that was already read for its digest can be read again', async () => {
  const request = requestOf({}, Buffer.from('<a>b</a>'));
  await contentDigest(request, 'sha256');
  const root = await readXml(request, 'alice');
  expect(root?.children).toEqual(['b']);
  request.emit('close');
});

describe('RFC 4918 section 8.2: types', () => {
  test.each([
    'application/xml',
    'text/xml',
    'TEXT/XML',
    'application/xml;charset=utf-8',
    'text/xml; charset="UTF-8"',
    'text/xml ; charset=us-ascii; x=y',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
  ])('the media type %s is read as XML', async (type) => {
    await expect(refusal('<a/>', { 'Content-Type': type })).resolves.toBe(200);
  });

  test.each([
    ['application/json'],
    ['text/html'],
    ['application/xml-dtd'],
    ['application/xmlx'],
    ['x-application/xml'],
    ['multipart/form-data; boundary=x'],
    [''],
    ['text/xml; charset=iso-8859-1'],
    ['text/plain; charset=iso-8859-1'],
    ['text/plain-ish'],
    ['application/xml;charset="windows-1252"'],
  ])('the media type %j is 415', async (type) => {
    await expect(refusal('<a/>', { 'Content-Type': type })).resolves.toBe(415);
  });

  test('RFC 9110 section 15.5.16: 415 names the accepted types', async () => {
    await expect(read('<a/>', { 'Content-Type': 'text/html' })).rejects.toMatchObject({
      status: 415,
      fields: { Accept: 'application/xml, text/xml' },
    });
    await expect(read('<a/>', { 'Content-Encoding': 'gzip' })).rejects.toMatchObject({
      status: 415,
      fields: { 'Accept-Encoding': 'identity' },
    });
  });

  test('two media types of XML content are 400', async () => {
    const request = requestOf({ 'Content-Type': 'text/xml' }, Buffer.from('<a/>'));
    request.rawHeaders.push('Content-Type', 'application/xml');
    await expect(readXml(request, 'alice')).rejects.toBeInstanceOf(BadRequest);
  });
});

describe('XML 1.0 section 4.3.3: encodings', () => {
  test.each([
    ['UTF-8', Buffer.from('<a>ü\u{1F600}</a>')],
    ['UTF-8 with a mark', Buffer.from('\uFEFF<a>ü\u{1F600}</a>')],
    ['UTF-8 that says so', Buffer.from('<?xml version="1.0" encoding="utf-8"?><a>ü\u{1F600}</a>')],
    ['UTF-16, little end first', utf16('<a>ü\u{1F600}</a>', 'LE')],
    ['UTF-16, big end first', utf16('<a>ü\u{1F600}</a>', 'BE')],
    [
      'UTF-16 that says so',
      utf16('<?xml version="1.0" encoding="UTF-16"?><a>ü\u{1F600}</a>', 'BE'),
    ],
  ])('XML content in %s is read', async (_, content) => {
    await expect(read(content)).resolves.toMatchObject({ children: ['ü\u{1F600}'] });
  });

  test.each([
    ['UTF-16 without a mark', utf16('<a/>', 'LE', false), 400],
    ['UTF-16 that ends in the middle', utf16('<a/>', 'LE').subarray(0, -1), 400],
    ['UTF-16 with half a surrogate pair', utf16('<a>\uD800</a>', 'LE'), 400],
    ['UTF-32', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x3c]), 400],
    ['ISO 8859-1', Buffer.from('<a>ü</a>', 'latin1'), 400],
    ['UTF-8 that ends in the middle', Buffer.from('<a>ü').subarray(0, -1), 400],
    ['a character in more bytes than it needs', Buffer.from([0x3c, 0x61, 0xc0, 0xbe]), 400],
    ['a surrogate in UTF-8', Buffer.from([0x3c, 0x61, 0x3e, 0xed, 0xa0, 0x80]), 400],
    ['UTF-7', Buffer.from('<?xml version="1.0" encoding="UTF-7"?><a>+ADw-b/+AD4-</a>'), 415],
    [
      'ISO 8859-1 that says so',
      Buffer.from("<?xml version='1.0' encoding = 'iso-8859-1'?><a/>"),
      415,
    ],
  ])('XML content in %s is refused', async (_, content, status) => {
    await expect(refusal(content)).resolves.toBe(status);
  });
});

describe('size', () => {
  const padded = (length: number) => Buffer.from(`<a>${' '.repeat(length - 7)}</a>`);

  test('XML content of 1 MiB is accepted, and one byte more is refused', async () => {
    await expect(refusal(padded(MEBIBYTE))).resolves.toBe(200);
    await expect(refusal(padded(MEBIBYTE + 1))).resolves.toBe(413);
  });

  test('RFC 9110 section 15.5.14: a Content-Length that is too large is refused before the content arrives', async () => {
    const request = new IncomingMessage(new Socket());
    request.headers['content-length'] = String(MEBIBYTE + 1);
    await expect(readXml(request, 'alice')).rejects.toMatchObject({ status: 413 });
  });
});

test('any bytes are read as XML, as no content, or refused with 4xx', async () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom('<a>', '</a>', '<a/>', '<?xml version="1.0" encoding="', '"?>', '&#')
      .map((one) => Buffer.from(one)),
    fc
      .constantFrom([0xfe, 0xff], [0xff, 0xfe], [0xef, 0xbb, 0xbf])
      .map((mark) => Buffer.from(mark)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      expect([200, 400, 403, 415]).toContain(await refusal(Buffer.concat(pieces)));
    }),
    { numRuns: 2000 },
  );
});

describe('RFC 4918 section 20.6: a lot of XML at a time', () => {
  const long = `<a>${'<b/>'.repeat(9_000)}</a>`;

  test('long XML is parsed in slices, one content at a time for each principal, with other requests in between', async () => {
    const done: string[] = [];
    const parse = async (principal: string, n: number) => {
      const root = await readXml(requestOf({}, Buffer.from(long)), principal);
      done.push(`${principal}${n}`);
      return root;
    };
    const all = [parse('alice', 0), parse('alice', 1), parse('alice', 2), parse('bob', 0)];
    let turns = 0;
    while (done.length < 4) {
      await new Promise(setImmediate);
      turns += 1;
    }
    expect(turns).toBeGreaterThan(20);
    expect(done.indexOf('bob0')).toBeLessThan(done.indexOf('alice1'));
    for (const root of await Promise.all(all)) expect(root?.children).toHaveLength(9_000);
  });

  test('up to sixteen long XML contents of a principal wait, and more are 503; other principals and short contents are not affected', async () => {
    const parse = (principal: string, content = long) =>
      readXml(requestOf({}, Buffer.from(content)), principal);
    const many = await Promise.allSettled(Array.from({ length: 20 }, () => parse('alice')));
    const refused = many.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toHaveLength(4);
    for (const reason of refused) expect(reason).toMatchObject({ status: 503 });
    const [, own, theirs] = await Promise.all([
      Promise.allSettled(Array.from({ length: 16 }, () => parse('alice'))),
      parse('alice', '<a/>'),
      parse('bob'),
    ]);
    expect([own?.name, theirs?.name]).toEqual(['a', 'a']);
  });
});

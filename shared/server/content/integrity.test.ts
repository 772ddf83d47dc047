import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { BadRequest } from '#shared/http/fields.ts';
import { intact } from './integrity.ts';

const PIECES = ['{"hello": ', '"world"}', '', '\n'].map((piece) => Buffer.from(piece));
const CONTENT = Buffer.concat(PIECES);
/** RFC 9530 appendix B.1 and D. */
const SHA256 = 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:';
const SHA512 = `sha-512=:${hash('sha512', CONTENT, 'base64')}:`;
const WRONG = SHA256.replace('RK/0', 'AAAA');

async function* content() {
  yield* PIECES;
}

async function read(headers: Readonly<Record<string, string>>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of intact({ headers }, content())) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('RFC 9530: the content must match the integrity fields', () => {
  test.each([
    {},
    { 'content-digest': SHA256 },
    { 'repr-digest': SHA512 },
    { 'content-digest': `${SHA512}, ${SHA256}`, 'repr-digest': SHA256 },
    { 'content-digest': '' },
    { 'content-digest': 'unixsum=7, md5=:AAAA:, x=(a b)' },
    { 'content-digest': `${WRONG}, ${SHA256}` }, // RFC 9651 section 4.2.2: the last value applies
    { 'content-digest': `${SHA256};a=1` },
    { 'want-content-digest': 'sha-256=10', digest: 'SHA-256=AAAA' },
  ])('content that matches is accepted: %j', async (headers) => {
    expect(await read(headers)).toBe(CONTENT.toString());
  });

  test.each([
    [{ 'content-digest': WRONG }, 'Content-Digest has the sha-256 of another content.'],
    [{ 'repr-digest': WRONG }, 'Repr-Digest has the sha-256 of another content.'],
    [{ 'content-digest': `${SHA256}, sha-512=:AAAA:` }, 'Content-Digest has the sha-512'],
    [{ 'content-digest': SHA256, 'repr-digest': WRONG }, 'Repr-Digest has the sha-256'],
    [{ 'content-digest': 'sha-256=::' }, 'Content-Digest has the sha-256'],
    [{ 'content-digest': 'sha-256=:RK/0:' }, 'Content-Digest has the sha-256'],
  ])('content that does not match is refused at its end: %j', async (headers, reason) => {
    const pieces = intact({ headers }, content());
    const received: Buffer[] = [];
    const reading = (async () => {
      for await (const piece of pieces) received.push(piece);
    })();
    await expect(reading).rejects.toThrow(reason);
    await expect(reading).rejects.toBeInstanceOf(BadRequest);
    expect(received).toEqual(PIECES);
  });

  test.each([
    'sha-256',
    'sha-256=1',
    `sha-256="RK/0"`,
    'sha-256=RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=',
    'sha-256=(:RK/0:)',
    'SHA-256=:AAAA:',
    'sha-256=:A:',
    ':AAAA:',
    'sha-256=:AAAA:,',
  ])('%s is malformed, and refused before the content is read', (value) => {
    for (const name of ['content-digest', 'repr-digest']) {
      const never = () => intact({ headers: { [name]: value } }, content());
      expect(never).toThrow(BadRequest);
    }
  });
});

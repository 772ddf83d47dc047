import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { digestRefusal } from './content-digest.ts';

const CONTENT = '{"hello": "world"}\n';
const sha256 = hash('sha256', CONTENT, 'buffer');
const sha512 = hash('sha512', CONTENT, 'buffer');
/** RFC 9530 appendix D. */
const EXAMPLE = 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:';

describe('Content-Digest (RFC 9530)', () => {
  test('the example of RFC 9530 matches its content', () => {
    expect(digestRefusal([EXAMPLE], 'sha-256', sha256)).toBeUndefined();
  });

  test('other algorithms are ignored, on the same line or another', () => {
    const both = `sha-512=:${sha512.toString('base64')}:, ${EXAMPLE}`;
    expect(digestRefusal([both], 'sha-512', sha512)).toBeUndefined();
    expect(digestRefusal(['md5=:AAAA:', EXAMPLE], 'sha-256', sha256)).toBeUndefined();
  });

  test.each<[string, readonly string[]]>([
    ['no field', []],
    ['empty', ['']],
    ['another algorithm alone', [`sha-512=:${sha512.toString('base64')}:`]],
    ['an algorithm twice, the last one right', [`sha-256=:AAAA:, ${EXAMPLE}`]],
    ['an algorithm on two lines', ['sha-256=:AAAA:', EXAMPLE]],
    ['another content', [EXAMPLE.replace('RK/0', 'AAAA')]],
    ['a truncated digest', ['sha-256=:RK/0:']],
    ['a string', [`sha-256="${sha256.toString('base64')}"`]],
    ['no value', ['sha-256']],
    ['base64 without colons', [`sha-256=${sha256.toString('base64')}`]],
    ['the name in upper case', [EXAMPLE.replace('sha', 'SHA')]],
  ])('a Content-Digest is refused: %s', (_what, lines) => {
    expect(digestRefusal(lines, 'sha-256', sha256)).toMatchObject({
      refusal: expect.stringMatching(/^content-digest-(?:form|none|wrong)$/),
    });
  });
});

import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { textsOf } from '../texts/index.ts';
import { programName } from './program.ts';

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

describe('programName (RFC 9110 section 10.1.5)', () => {
  test.each([
    [`${WINDOWS} ${CHROME} Safari/537.36`, 'Chrome on Windows'],
    [`${WINDOWS} ${CHROME} Safari/537.36 Edg/142.0.0.0`, 'Edge on Windows'],
    [`Mozilla/5.0 (Linux; Android 10; K) ${CHROME} Mobile Safari/537.36`, 'Chrome on Android'],
    [`${IPHONE} Version/18.1 Mobile/15E148 Safari/604.1`, 'Safari on iPhone'],
    [`${IPHONE} CriOS/142.0 Mobile/15E148 Safari/604.1`, 'Chrome on iPhone'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    ['countersign-cli/1.0 (linux; x64)', 'countersign-cli/1.0 (linux; x64)'],
    ['Firefox/140.0', 'Firefox/140.0'],
    ['', ''],
    ['\u0000\u202e\n ', ''],
    ['evil\u202etxt', 'evil txt'],
    ['x'.repeat(5000), `${'x'.repeat(60)}…`],
  ])('User-Agent %s is shown as %s', (agent, name) => {
    expect(programName(agent, textsOf('en'))).toBe(name);
  });

  test('the name of a program is short and printable for any User-Agent', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 300 }), (agent) => {
        expect(programName(agent, textsOf('en'))).toMatch(/^[\x20-\x7e]{0,60}…?$/);
      }),
    );
  });
});

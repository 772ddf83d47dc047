import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { decodeBase64, decodeMessage, encodeMessage } from './base64.ts';
import { parseClientFinal, parseClientFirst } from './messages.ts';

describe('base64 (RFC 4648 section 4)', () => {
  test('encoded text is decoded, with padding and without', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(decodeBase64(text)).toEqual(Buffer.from(bytes));
        expect(decodeBase64(text.replaceAll('=', ''))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test('only text of the grammar is decoded', () => {
    const grammar =
      /^(?:[A-Za-z0-9+/]{4})*(?:|[A-Za-z0-9+/][AQgw](?:==)?|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=?)$/;
    const characters = fc.constantFrom(...Array.from('AQgwBf019+/=-_ \n.'));
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 9 }), (text) => {
        expect(decodeBase64(text) !== undefined).toBe(grammar.test(text));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['half the padding', 'AA='],
    ['padding alone', '='],
    ['after the padding', 'AA==AA=='],
    ['URL-safe', '-_-_'],
    ['spare bits', 'AB=='],
    ['too long', 'A'.repeat(4100)],
  ])('this text is refused: %s', (_, text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });

  test('RFC 5802 section 7: a message is UTF-8', () => {
    expect(decodeMessage(encodeMessage('n,,n=\u00e4\ufeff,r=x'))).toBe('n,,n=\u00e4\ufeff,r=x');
    expect(decodeMessage(Buffer.from([0xff]).toString('base64'))).toBeUndefined();
    expect(decodeMessage(Buffer.from([0xc0, 0x80]).toString('base64'))).toBeUndefined();
    expect(decodeMessage(Buffer.from([0xed, 0xa0, 0x80]).toString('base64'))).toBeUndefined();
  });
});

describe('client-first-message (RFC 5802 section 7)', () => {
  test.each([
    ['n,,n=alice,r=x', 'alice'],
    ['n,,n=ALICE,r=x', 'alice'],
    ['n,,n=a=2Cb=3Dc,r=x', 'a,b=c'],
    ['n,,n=a=3D2C,r=x', 'a=2C'],
    ['n,,n=\u2168,r=x', 'ix'],
    ['n,,n=I\u00adX,r=x', 'ix'],
    ['n,,n=\u00e4,r=x', '\u00e4'],
  ])('section 5.1: the name in %s is read', (message, account) => {
    expect(parseClientFirst(message)?.user.account).toBe(account);
  });

  test('section 5.1: the bare message is used as received, including its extensions', () => {
    expect(parseClientFirst('n,,n=I\u00adX,r=a+/b,x=1,Z=a=b')).toMatchObject({
      bare: 'n=I\u00adX,r=a+/b,x=1,Z=a=b',
      nonce: 'a+/b',
    });
  });

  test.each([
    ['RFC 7804 section 5: the client thinks we lack channel binding', 'y,,n=alice,r=x'],
    ['RFC 7804 section 5: channel binding', 'p=tls-exporter,,n=alice,r=x'],
    ['an authzid', 'n,a=bob,n=alice,r=x'],
    ['a mandatory extension before', 'n,,m=1,n=alice,r=x'],
    ['a mandatory extension behind', 'n,,n=alice,r=x,m=1'],
    ['no gs2-header', 'n=alice,r=x'],
    ['upper-case flag', 'N,,n=alice,r=x'],
    ['a second name', 'n,,n=alice,r=x,n=bob'],
    ['a second nonce', 'n,,n=alice,r=x,r=y'],
    ['another order', 'n,,r=x,n=alice'],
    ['an empty name', 'n,,n=,r=x'],
    ['an empty nonce', 'n,,n=alice,r='],
    ['a nonce with a space', 'n,,n=alice,r=a b'],
    ['a nonce that is not ASCII', 'n,,n=alice,r=\u00e4'],
    ['= not followed by 2C or 3D', 'n,,n=a=b,r=x'],
    ['an escape in lower case', 'n,,n=a=2cb,r=x'],
    ['NUL in the name', 'n,,n=a\u0000b,r=x'],
    ['a line feed in the name', 'n,,n=a\nb,r=x'],
    ['a name of which nothing is left', 'n,,n=\u00ad,r=x'],
    ['a name of both directions', 'n,,n=\u05d0a,r=x'],
    ['an extension without a value', 'n,,n=alice,r=x,x='],
    ['a comma at the end', 'n,,n=alice,r=x,'],
    ['a line feed at the end', 'n,,n=alice,r=x\n'],
    ['a message of another leg', 'c=biws,r=x,p=AAAA'],
  ])('this client-first-message is refused: %s', (_, message) => {
    expect(parseClientFirst(message)).toBeUndefined();
  });
});

describe('client-final-message (RFC 5802 section 7)', () => {
  test('a client-final-message may have extensions before the proof, whose padding may be missing', () => {
    for (const proof of ['AAAAAA==', 'AAAAAA']) {
      expect(parseClientFinal(`c=biws,r=x,t=1,p=${proof}`)).toEqual({
        withoutProof: 'c=biws,r=x,t=1',
        nonce: 'x',
        proof: Buffer.alloc(4),
      });
    }
  });

  test.each([
    ['channel binding of y,,', 'c=eSws,r=x,p=AAAA'],
    ['channel binding of n,a=bob,', 'c=bixhPWJvYiw=,r=x,p=AAAA'],
    ['no channel binding', 'r=x,p=AAAA'],
    ['no nonce', 'c=biws,p=AAAA'],
    ['no proof', 'c=biws,r=x'],
    ['an empty proof', 'c=biws,r=x,p='],
    ['two proofs', 'c=biws,r=x,p=AAAA,p=AAAA'],
    ['something behind the proof', 'c=biws,r=x,p=AAAA,x=1'],
    ['a proof that is not base64', 'c=biws,r=x,p=A-_A'],
    ['a name', 'c=biws,r=x,n=alice,p=AAAA'],
    ['a mandatory extension', 'c=biws,r=x,m=1,p=AAAA'],
    ['a message of another leg', 'n,,n=alice,r=x'],
  ])('this client-final-message is refused: %s', (_, message) => {
    expect(parseClientFinal(message)).toBeUndefined();
  });
});

describe('compared with a naive parser', () => {
  const attribute = fc.constantFrom('n', '', 'y', 'n=alice', 'n=a=2C', 'n=a=2', 'r=x+/', 'r=');
  const others = fc.constantFrom(
    'c=biws',
    'c=eSws',
    'p=AAAA',
    'p=A',
    'm=1',
    'a=b',
    'x=1',
    'x=',
    'Z==',
  );
  const message = fc
    .array(fc.oneof(attribute, others), { maxLength: 6 })
    .chain((rest) =>
      fc
        .constantFrom(['n', '', 'n=alice', 'r=x'], ['c=biws', 'r=x'], ['n', ''], [])
        .map((front) => [...front, ...rest].join(',')),
    );
  const extension = (text: string) => /^[^=,]=.+$/s.test(text) && !/^[aceimnprsv]/.test(text);

  test('both parsers read the same messages', () => {
    fc.assert(
      fc.property(message, (text) => {
        const [flag, authzid, name = '', nonce = '', ...rest] = text.split(',');
        const first =
          flag === 'n' &&
          authzid === '' &&
          ['n=alice', 'n=a=2C'].includes(name) &&
          ['r=x', 'r=x+/'].includes(nonce) &&
          rest.every(extension);
        expect(parseClientFirst(text) !== undefined).toBe(first);

        const [binding, r = '', ...behind] = text.split(',');
        const proof = behind.pop();
        const final =
          binding === 'c=biws' &&
          ['r=x', 'r=x+/'].includes(r) &&
          proof === 'p=AAAA' &&
          behind.every(extension);
        expect(parseClientFinal(text) !== undefined).toBe(final);
      }),
      { numRuns: 5000 },
    );
  });
});

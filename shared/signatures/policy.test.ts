import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { SignedRequest } from './message.ts';
import { input, withFields } from './message.fixture.ts';
import type { Policy } from './policy.ts';
import { signatureFields } from './signed-request.ts';
import { claimedSignature, verifySignature } from './verify.ts';
import { MESSAGE_ALGORITHMS } from '#shared/jose/algorithms.ts';

const NOW = 1_800_000_000;
const POLICY: Policy = {
  covered: ['"@method"', '"@target-uri"', '"priority";key="u"'],
  tag: 'gnap',
  required: ['keyid'],
  refused: ['alg'],
  window: 60,
};
const COVERED = '("@method" "@target-uri" "priority";key="u")';
const PARAMS = `created=${NOW};keyid="k";tag="gnap"`;
const { publicKey, privateKey } = generateKeyPairSync('ed25519');

const request = (fields: Readonly<Record<string, string | readonly string[]>> = {}) =>
  ({
    method: 'POST',
    targetUri: 'https://as.example/gnap',
    requestTarget: '/gnap',
    ...withFields({ Priority: 'u=1', ...fields }),
  }) satisfies SignedRequest;

const signed = (text: string, label = 'sig') =>
  signatureFields(request(), { label, ...input(text), alg: 'Ed25519', key: privateKey });

/** Returns one message with the signatures of these inputs. */
function several(...texts: readonly string[]) {
  const all = texts.map((text, n) => signed(text, `sig${n}`));
  return {
    'Signature-Input': all.map((one) => one['Signature-Input']),
    Signature: all.map((one) => one.Signature),
  };
}

function verify(fields: Readonly<Record<string, string | readonly string[]>>, policy = POLICY) {
  const claimed = claimedSignature(request(fields), policy, NOW);
  const algorithm = MESSAGE_ALGORITHMS.get('Ed25519');
  if (algorithm === undefined) throw new Error('no Ed25519');
  verifySignature(claimed, { algorithm, key: publicKey });
  return claimed;
}

test('a signature that meets the policy is accepted', () => {
  expect(verify(signed(`${COVERED};${PARAMS}`)).params.get('keyid')?.value).toBe('k');
});

describe('RFC 9421 section 7.2.1: coverage', () => {
  test.each([
    ['("@method" "priority";key="u")', '"@target-uri"'],
    ['("@method" "@target-uri" "priority")', '"priority";key="u"'],
    ['("@method" "@target-uri" "priority";sf)', '"priority";key="u"'],
    ['()', '"@method"'],
  ])('a signature that covers %s is refused, since it lacks %s', (covered, missing) => {
    expect(() => verify(signed(`${covered};${PARAMS}`))).toThrow(`${missing} is not covered`);
  });

  test('a signature may cover additional components', () => {
    const more = '("@scheme" "@method" "@path" "@target-uri" "priority" "priority";key="u")';
    expect(() => verify(signed(`${more};${PARAMS}`))).not.toThrow();
  });
});

describe('parameters', () => {
  test.each([
    [`keyid="k";tag="gnap"`, 'created is missing'],
    [`created=${NOW};tag="gnap"`, 'keyid is missing'],
    [`${PARAMS};alg="ed25519"`, 'alg is not allowed'],
    [`created="${NOW}";keyid="k";tag="gnap"`, 'created is no integer'],
    [`created=${NOW}.0;keyid="k";tag="gnap"`, 'created is no integer'],
    [`created=${NOW};keyid=k;tag="gnap"`, 'keyid is no string'],
    [`created=${NOW};keyid;tag="gnap"`, 'keyid is no string'],
    [`${PARAMS};nonce=1`, 'nonce is no string'],
    [`${PARAMS};expires="x"`, 'expires is no integer'],
    [`${PARAMS};expires=${NOW}`, 'has expired'],
    [`created=${NOW - 61};keyid="k";tag="gnap"`, 'created differs'],
    [`created=${NOW + 61};keyid="k";tag="gnap"`, 'created differs'],
    [`created=-${NOW};keyid="k";tag="gnap"`, 'created differs'],
  ])('a signature with %s is refused: %s', (params, reason) => {
    expect(() => verify(signed(`${COVERED};${params}`))).toThrow(reason);
  });

  test.each([NOW - 60, NOW + 60])('created may differ by the window: %i', (created) => {
    const params = `created=${created};keyid="k";tag="gnap";expires=${NOW + 1};nonce="n";x=1`;
    expect(() => verify(signed(`${COVERED};${params}`))).not.toThrow();
  });
});

describe('a signature is found by its tag', () => {
  const other = `("@method");created=${NOW};tag="other"`;
  const mine = `${COVERED};${PARAMS}`;

  test.each([[[other, mine]], [[mine, other]], [[mine]]])(
    'the signature is found among others: %j',
    (texts) => {
      expect(verify(several(...texts)).params.get('tag')?.value).toBe('gnap');
    },
  );

  test.each([
    [[], 'no signature with tag gnap'],
    [[other], 'no signature with tag gnap'],
    [[`${COVERED};created=${NOW};keyid="k"`], 'no signature with tag gnap'],
    [[`${COVERED};created=${NOW};keyid="k";tag=gnap-rotate`], 'no signature with tag gnap'],
    [[mine, mine], 'two signatures with tag gnap'],
  ])('the signatures %j are refused: %s', (texts, reason) => {
    expect(() => verify(several(...texts))).toThrow(reason);
  });

  test('a tag that is a token is refused', () => {
    expect(() => verify(signed(`${COVERED};created=${NOW};keyid="k";tag=gnap`))).toThrow(
      'tag is no string',
    );
  });
});

describe('RFC 9421 section 4: Signature-Input and Signature', () => {
  const good = signed(`${COVERED};${PARAMS}`);
  const second = signed(`${COVERED};${PARAMS}`, 'other');
  const [inputs, values] = [good['Signature-Input'], good.Signature];

  test.each<[string, Readonly<Record<string, string | readonly string[]>>, string]>([
    [
      'a label that comes twice in a line',
      { ...good, 'Signature-Input': `${inputs}, ${inputs}` },
      'a label twice',
    ],
    [
      'a label that comes twice in two lines',
      { ...good, Signature: [values, values] },
      'a label twice',
    ],
    [
      'a parameter that comes twice',
      { ...good, 'Signature-Input': `${inputs};created=1` },
      'a label twice',
    ],
    ['a missing Signature', { 'Signature-Input': inputs }, 'different labels'],
    ['a missing Signature-Input', { Signature: values }, 'different labels'],
    ['other labels', { ...good, Signature: second.Signature }, 'no octets for sig'],
    ['one label more', { ...good, Signature: [values, second.Signature] }, 'different labels'],
    ['a signature that is a string', { ...good, Signature: 'sig="x"' }, 'no octets'],
    ['an input that is an item', { ...good, 'Signature-Input': 'sig="x"' }, 'is no list'],
    ['a component that is a token', { ...good, 'Signature-Input': 'sig=(date)' }, 'is no string'],
    ['a comma at the end', { ...good, Signature: `${values},` }, 'malformed'],
    ['a label in capitals', { ...good, 'Signature-Input': inputs.toUpperCase() }, 'malformed'],
  ])('%s is refused', (_, fields, reason) => {
    expect(() => verify(fields)).toThrow(reason);
  });

  test('more than eight signatures are refused', () => {
    const texts = Array.from({ length: 9 }, (_, n) => `();created=${NOW};tag="t${n}"`);
    expect(() => verify(several(...texts))).toThrow('more than 8 signatures');
  });

  test('more than 64 components are refused', () => {
    const many = Array.from({ length: 65 }, (_, n) => `"a${n}"`).join(' ');
    const fields = { ...good, 'Signature-Input': `sig=(${many});${PARAMS}` };
    expect(() => verify(fields)).toThrow('more than 64 components');
  });

  test('section 2.2.7: @signature-params must not be covered', () => {
    const fields = {
      ...good,
      'Signature-Input': inputs.replace('("@method"', '("@method" "@signature-params"'),
    };
    expect(() => verify(fields)).toThrow('a request has no @signature-params');
  });
});

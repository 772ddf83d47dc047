import type { RefusalCode } from '#shared/refusals/table.ts';
import { checksOf, notReached, type Step } from '../checks.ts';
import { TOKEN_STEPS } from './access-token.ts';
import type { ExplainedCredentials } from './credentials-of.ts';
import { explainToken } from './token-schemes.ts';

const step = (
  name: string,
  check: string,
  section: string,
  refusals?: readonly RefusalCode[],
): Step => ({
  name,
  check,
  section: `RFC ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of the signature beside a token, as `prove` makes them. */
export const GNAP_PROOF_STEPS: readonly Step[] = [
  step(
    'form',
    'The request has one signature with the tag gnap, well-formed.',
    '9635 section 7.3.1',
    [
      'signature-none',
      'signature-two',
      'signature-tag',
      'signature-field',
      'signature-labels',
      'signature-many',
      'signature-no-list',
      'signature-no-octets',
      'signature-many-components',
      'signature-no-string',
      'component-not-ascii',
      'component-case',
      'component-bs',
      'component-no-dictionary',
      'component-no-member',
      'component-param',
    ],
  ),
  step(
    'coverage',
    'The signature covers method, target URI and token, and the digest of any content. It has keyid, and no alg.',
    '9635 section 7.3.1',
    [
      'signature-uncovered',
      'signature-param-missing',
      'signature-param-refused',
      'signature-param-type',
      'component-flag',
      'component-param-type',
    ],
  ),
  step(
    'time',
    'The signature was made within the last minute, and has not expired.',
    '9421 section 3.2.1',
    ['signature-created', 'signature-expired'],
  ),
  step('components', 'The request has each covered component once.', '9421 section 2.5', [
    'component-absent',
    'component-not-of-request',
    'component-not-of-answer',
    'component-req-of-request',
    'component-twice',
    'component-query-param',
    'component-long-query',
  ]),
  step('key', 'keyid names the key of the token.', '9635 section 7.2', ['signature-keyid']),
  step(
    'signature',
    'This key has signed the covered components of this request.',
    '9421 section 3.2',
    ['signature-alg', 'signature-key', 'signature-wrong'],
  ),
  step('content', 'Content-Digest fits the content, or is absent.', '9530 section 2', [
    'content-digest-form',
    'content-digest-none',
    'content-digest-wrong',
    'content-digest-missing',
    'content-unseen',
  ]),
  step('replay', 'The signature is new.', '9421 section 7.2.2', ['signature-used']),
];

/** RFC 9635 section 7.2: a server checks the token first, then the signature, then the scope. */
export const explainGnap: ExplainedCredentials = (credentials, surroundings) => {
  const { parts, checks } = explainToken(credentials, surroundings);
  const isWrong = checks.some(({ result }) => result === 'wrong');
  const reason = 'The signature is in fields of its own: paste the whole request to see it.';
  const open = Object.fromEntries(GNAP_PROOF_STEPS.map(({ name }) => [name, reason]));
  const proof = isWrong
    ? notReached(GNAP_PROOF_STEPS)
    : checksOf(GNAP_PROOF_STEPS, undefined, open);
  const ofToken = TOKEN_STEPS.length;
  return { parts, checks: [...checks.slice(0, ofToken), ...proof, ...checks.slice(ofToken)] };
};

import type { Checks, Recorded } from '../recorded.ts';
import { formChecks, formOf, has, refusedBy } from './token-endpoint.ts';
import { told, type ToldStep } from './told.ts';

const isPushing = has('response_type');
const isRedeeming = ({ asked }: Recorded) =>
  formOf(asked).get('grant_type') === 'authorization_code';

/** The checks of the pushed request, and of the request with the code. */
const FORM_STEPS: readonly ToldStep[] = [
  {
    check: 'redirect_uri is exactly a registered redirect URI.',
    section: 'RFC 9700 section 2.1',
    applies: isPushing,
    refuses: refusedBy('invalid_request', 'unregistered-uri'),
  },
  {
    check: 'The request has a code_challenge, made with S256.',
    section: 'RFC 7636 section 4.4.1',
    applies: isPushing,
    refuses: refusedBy('invalid_request', 'no-challenge'),
  },
  {
    check: 'The code is known, and was issued to this client.',
    section: 'RFC 6749 section 4.1.3',
    applies: isRedeeming,
    refuses: refusedBy('invalid_grant', 'unknown', 'other-client'),
  },
  {
    check: 'code_verifier fits the code_challenge of the request.',
    section: 'RFC 7636 section 4.6',
    applies: isRedeeming,
    refuses: refusedBy('invalid_grant', 'verifier', 'verifier-missing'),
  },
  {
    check: 'redirect_uri is the same as in the pushed request.',
    section: 'RFC 6749 section 4.1.3',
    applies: isRedeeming,
    refuses: refusedBy('invalid_grant', 'redirect-uri'),
  },
  {
    check: 'The code was not used before.',
    section: 'RFC 6749 section 4.1.2',
    applies: isRedeeming,
    refuses: refusedBy('invalid_grant', 'used'),
  },
];

/** Whether a request is the browser's first. Later requests have the id of an interaction in the path. */
const isBeginning = ({ asked }: Recorded): boolean => asked.words[1]?.startsWith('/auth?') === true;
const isGoingOn = (recorded: Recorded): boolean => !isBeginning(recorded);

/** Whether the answer redirects the browser to the client with a code. */
const givesCode = ({ answer: { lines } }: Recorded): boolean =>
  [...lines('location'), ...lines('refresh')].some((url) => /[?&]code=/.test(url));

/**
 * The checks of the browser's requests. The first request carries only the client_id and the request_uri of the pushed
 * request.
 */
const BROWSER_STEPS: readonly ToldStep[] = [
  {
    check: 'client_id names a registered client.',
    section: 'RFC 6749 section 4.1.1',
    applies: isBeginning,
    refuses: refusedBy('invalid_client'),
  },
  {
    check: 'request_uri is known, belongs to this client, and was not used before.',
    section: 'RFC 9126 section 4',
    applies: isBeginning,
    refuses: refusedBy('invalid_request_uri'),
  },
  {
    check: 'This browser has begun the request.',
    section: 'RFC 9700 section 2.1',
    applies: isGoingOn,
  },
  { check: 'The person has signed in.', section: 'RFC 6749 section 4.1.1', applies: isGoingOn },
  {
    check: 'The person has allowed the request.',
    section: 'RFC 6749 section 4.1.1',
    applies: givesCode,
  },
];

const [ofForm, ofBrowser] = [formChecks(FORM_STEPS), told(BROWSER_STEPS)];

/** The checks of requests to the authorization server in the code flow, from the client or from the browser. */
export const codeFlowChecks: Checks = (recorded) =>
  (recorded.asked.words[0] === 'GET' ? ofBrowser : ofForm)(recorded);

import type { Checks, Recorded } from '../recorded.ts';
import { formChecks, formOf, has, refusedBy } from './token-endpoint.ts';
import { told, type ToldStep } from './told.ts';

/** The grant type of the device flow (RFC 8628 section 3.4). */
export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

const isPolling = ({ asked }: Recorded) => formOf(asked).get('grant_type') === DEVICE_CODE;

/** The checks of the form that the person sends. */
const DECISION_STEPS: readonly ToldStep[] = [
  { check: 'The person has signed in.', section: 'RFC 8628 section 3.3' },
  { check: 'The user code belongs to a device that waits.', section: 'RFC 8628 section 3.3' },
];

const STEPS: readonly ToldStep[] = [
  {
    check: 'The device code is known, and was issued to this client.',
    section: 'RFC 8628 section 3.4',
    applies: isPolling,
    refuses: refusedBy('invalid_grant', 'unknown', 'other-client'),
  },
  {
    check: 'The device has waited for the interval, or the person has decided.',
    section: 'RFC 8628 section 3.5',
    applies: isPolling,
    refuses: refusedBy('slow_down'),
  },
  {
    check: 'The person has decided.',
    section: 'RFC 8628 section 3.5',
    applies: isPolling,
    refuses: refusedBy('authorization_pending'),
  },
  {
    check: 'The device code was not used before.',
    section: 'RFC 8628 section 3.5',
    applies: isPolling,
    refuses: refusedBy('invalid_grant', 'used'),
  },
  {
    check: 'The person has allowed the request.',
    section: 'RFC 8628 section 3.5',
    applies: isPolling,
    refuses: refusedBy('access_denied'),
  },
];

const [ofForm, ofPerson] = [formChecks(STEPS), told(DECISION_STEPS)];
const isOfPerson = has('decision');

/** The checks of requests to the authorization server in the device flow, from the device or from the person. */
export const deviceFlowChecks: Checks = (recorded) =>
  (isOfPerson(recorded) ? ofPerson : ofForm)(recorded);

import { type Checks, isTaken, membersOf, type Recorded } from '../recorded.ts';
import { formChecks, formOf, judged, type JudgedStep, type KnownForm } from './token-endpoint.ts';

/** RFC 8628 section 3.4. */
export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

const isPolling = ({ form }: KnownForm) => form.get('grant_type') === DEVICE_CODE;

/** The earlier legs that have the same value in their form. */
const withSame = ({ form, earlier }: KnownForm, name: string) =>
  earlier.filter(({ asked }) => formOf(asked).get(name) === form.get(name));

/** Whether the server has given this device code in an earlier answer. */
const isKnown = ({ form, earlier }: KnownForm): boolean =>
  earlier.some(
    ({ answer }) => membersOf(answer.content)['device_code'] === form.get('device_code'),
  );

/** The decision of the person, if there was one before. */
const decisionBefore = ({ earlier }: KnownForm): string | undefined =>
  earlier.map(({ asked }) => formOf(asked).get('decision')).find((one) => one !== null) ??
  undefined;

/** The checks of the form that the person sends. */
const DECISION_STEPS: readonly JudgedStep<Recorded>[] = [
  {
    check: 'The person is signed in.',
    section: 'RFC 8628 section 3.3',
    finds: () => undefined,
  },
  {
    check: 'The user code is of a device that waits.',
    section: 'RFC 8628 section 3.3',
    finds: ({ asked, earlier }) =>
      earlier.some(
        ({ answer }) => membersOf(answer.content)['user_code'] === formOf(asked).get('user_code'),
      )
        ? undefined
        : 'no device waits with this code',
  },
];

const STEPS: readonly JudgedStep<KnownForm>[] = [
  {
    check: 'The device code is known, and was issued to this client.',
    section: 'RFC 8628 section 3.4',
    applies: isPolling,
    finds: (known) => (isKnown(known) ? undefined : 'there is no such device code'),
  },
  {
    check: 'The device has waited for the interval, or the person has decided.',
    section: 'RFC 8628 section 3.5',
    applies: isPolling,
    finds: (known) => {
      const asked = withSame(known, 'device_code').length > 0;
      return asked && decisionBefore(known) === undefined ? 'it asks too fast' : undefined;
    },
  },
  {
    check: 'The person has decided.',
    section: 'RFC 8628 section 3.5',
    applies: isPolling,
    finds: (known) => (decisionBefore(known) ? undefined : 'nobody has decided yet'),
  },
  {
    check: 'The device code was not used before.',
    section: 'RFC 8628 section 3.5',
    applies: isPolling,
    finds: (known) =>
      withSame(known, 'device_code').some(({ answer }) => isTaken(answer))
        ? 'it was used before'
        : undefined,
  },
  {
    check: 'The person has allowed it.',
    section: 'RFC 8628 section 3.5',
    applies: isPolling,
    finds: (known) => (decisionBefore(known) === 'deny' ? 'the person has denied it' : undefined),
  },
];

const ofForm = formChecks(STEPS);

/** Requests to the authorization server in the device flow: of the device, and of the person. */
export const deviceFlowChecks: Checks = (recorded) =>
  formOf(recorded.asked).has('decision') ? judged(DECISION_STEPS, recorded) : ofForm(recorded);

import { DEVICE_CODE } from '#shared/config/playground-client.ts';
import { type Checks, isTaken, membersOf } from '../recorded.ts';
import { formChecks, formOf, type JudgedStep, type KnownForm } from './token-endpoint.ts';

const isPolling = ({ form }: KnownForm) => form.get('grant_type') === DEVICE_CODE;
const isDeciding = ({ form }: KnownForm) => form.has('decision');

/** The earlier legs that have the same value in their form. */
const withSame = ({ form, earlier }: KnownForm, name: string) =>
  earlier.filter(({ asked }) => formOf(asked).get(name) === form.get(name));

/** Whether the server has given this code in an earlier answer. */
const isKnown = ({ form, earlier }: KnownForm, name: string): boolean =>
  earlier.some(({ answer }) => membersOf(answer.content)[name] === form.get(name));

/** The decision of the person, if there was one before. */
const decisionBefore = ({ earlier }: KnownForm): string | undefined =>
  earlier.map(({ asked }) => formOf(asked).get('decision')).find((one) => one !== null) ??
  undefined;

const STEPS: readonly JudgedStep<KnownForm>[] = [
  {
    check: 'The user code is of a device that waits.',
    section: 'RFC 8628 section 3.3',
    applies: isDeciding,
    finds: (known) => (isKnown(known, 'user_code') ? undefined : 'no device waits with this code'),
  },
  {
    check: 'The device code is known, and was issued to this client.',
    section: 'RFC 8628 section 3.4',
    applies: isPolling,
    finds: (known) => (isKnown(known, 'device_code') ? undefined : 'there is no such device code'),
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

/** Requests to the authorization server in the device flow. */
export const deviceFlowChecks: Checks = formChecks(STEPS);

import { isPreflight, listed } from '#shared/server/endpoints/cors.ts';
import type { Checks, RecordedMessage } from '../recorded.ts';
import { type CheckStep, checksInOrder } from './in-order.ts';
import { incoming } from './incoming.ts';

const stepsOf = (origins: readonly string[]): readonly CheckStep<RecordedMessage>[] => [
  {
    check: 'It is a preflight: OPTIONS with an origin and a method. It needs no credentials.',
    section: 'Fetch section 3.3.2',
    finds: (asked) => (isPreflight(incoming(asked)) ? undefined : 'it is an ordinary request'),
  },
  {
    check: 'The space lists the origin. Otherwise the answer names none, and the browser refuses.',
    section: 'Fetch section 3.3.3',
    finds({ lines }) {
      const [origin] = lines('origin');
      const callers = listed({ origins, credentials: false }).callers(origin);
      return callers ? undefined : `${origin ?? ''} is not listed`;
    },
  },
];

/** Fetch section 3.3. The browser compares the method and the fields with the answer itself. */
export const preflightChecks =
  (origins: readonly string[]): Checks =>
  ({ asked }) =>
    checksInOrder(stepsOf(origins), asked);

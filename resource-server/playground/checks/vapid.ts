import { createVapid, p256Point } from '#shared/auth/schemes/vapid/vapid.ts';
import { type Check, checksOf, notReached } from '#shared/explain/checks.ts';
import { readJwt } from '#shared/explain/schemes/jwt.ts';
import { VAPID_STEPS } from '#shared/explain/schemes/vapid.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { HttpError } from '#shared/http/answer.ts';
import { messageFields } from '../../push/message-fields.ts';
import { type Checks, credentialsOf, type Recorded, type RecordedMessage } from '../recorded.ts';
import { type CheckStep, checksInOrder } from './in-order.ts';
import { bearerChecks } from './tokens.ts';

const ADDRESS_STEPS: readonly CheckStep<Recorded>[] = [
  {
    check: 'The request comes over TLS.',
    section: 'RFC 8030 section 8',
    finds: ({ url }) => (url.startsWith('https:') ? undefined : 'it comes in clear text'),
  },
  {
    check: 'There is something at this address. Whoever knows the address may use it.',
    section: 'RFC 8030 section 8.3',
    finds: (recorded) => (isThere(recorded) ? undefined : 'there is nothing'),
  },
];

const SUBSCRIBE_STEPS: readonly CheckStep<Recorded>[] = [
  {
    check: 'A person has allowed the token: the subscription ends with this grant.',
    section: 'no standard',
    finds: ({ asked }) =>
      readJwt(credentialsOf(asked).token68 ?? '').payload?.['grant_id'] === undefined
        ? 'it names no grant'
        : undefined,
  },
  {
    check: 'The key for which the subscription is made is a point of P-256.',
    section: 'RFC 8292 section 4.1',
    finds: ({ asked }) => (p256Point(keyIn(asked)) === undefined ? 'it is no key' : undefined),
  },
];

const MESSAGE_STEPS: readonly CheckStep<Recorded>[] = [
  {
    check: 'TTL says how long the message may wait, and the other fields are well-formed.',
    section: 'RFC 8030 section 5',
    finds({ asked }) {
      messageFields(asked.fields.flat());
      return undefined;
    },
  },
];

/** An answer before has named the address, and nobody has deleted it. */
function isThere({ asked: { words }, earlier }: Recorded): boolean {
  const [, target = ''] = words;
  const isNamed = earlier.some(({ answer }) =>
    [...answer.lines('location'), ...answer.lines('link')].some((value) => value.includes(target)),
  );
  const isDeleted = earlier.some(
    ({ asked: { words: before } }) => before[0] === 'DELETE' && before[1] === target,
  );
  return isNamed && !isDeleted;
}

/** The key that the options of a subscription name. */
function keyIn({ content }: RecordedMessage): string {
  const { vapid } = JSON.parse(content.toString()) as { readonly vapid: string };
  return vapid;
}

/** Returns why vapid refuses a message. Undefined: it does not. */
function refusalOf({ asked, earlier, url, clock }: Recorded): Refusal | undefined {
  const key = earlier[0] && keyIn(earlier[0].asked);
  try {
    createVapid({ clock })(asked.lines('authorization')[0], new URL(url).origin, key);
    return undefined;
  } catch (error) {
    if (error instanceof HttpError && error.refusal) return error.refusal;
    throw error;
  }
}

async function checksOfMessage(recorded: Recorded): Promise<readonly Check[]> {
  const refusal = refusalOf(recorded);
  const rest =
    refusal === undefined
      ? await checksInOrder(MESSAGE_STEPS, recorded)
      : notReached(MESSAGE_STEPS);
  return [...checksOf(VAPID_STEPS, refusal), ...rest];
}

/** RFC 8030 and RFC 8292: nobody but the sender of a message and the one who subscribes is asked for credentials. */
export const vapidChecks: Checks = async (recorded) => {
  const { asked, url } = recorded;
  const [, target = ''] = asked.words;
  const [kind] = target.slice(new URL(url).pathname.length).split('/');
  if (kind === 'subscribe') {
    const ofToken = (await bearerChecks(recorded)) ?? [];
    return [...ofToken, ...(await checksInOrder(SUBSCRIBE_STEPS, recorded))];
  }
  const ofAddress = await checksInOrder(ADDRESS_STEPS, recorded);
  return kind === 'push' ? [...ofAddress, ...(await checksOfMessage(recorded))] : ofAddress;
};

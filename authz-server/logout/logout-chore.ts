import type { Recorder } from '#shared/audit/recorder.ts';
import type { Log } from '#shared/base/log.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { isDocumentUrl } from '#shared/client-documents/document-url.ts';
import { clearClient, endForbidden } from '#shared/people/access/of-client.ts';
import type { Chore } from '#shared/server/chore.ts';
import type { TakenLogout } from '#shared/stores/logout/logouts.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { type LogoutSender, sendLogout } from './send-logout.ts';

/** Seconds between two checks for waiting logouts. */
const EVERY = 0.25;
/** The most requests at a time to one application, and the most applications at a time. */
const EACH = 2;
const APPLICATIONS = 32;
/** The most among them that describe themselves: anybody can name many that hang. */
const OF_DOCUMENTS = 16;
/** Milliseconds for which taken logouts belong to this process: longer than a request takes. */
const OURS = 10_000;
/** The pause in milliseconds before the second attempt. It doubles each time, up to the maximum. */
const WAIT = { first: 1000, most: 300_000 };
/** Milliseconds after the end for which a logout is sent. */
const WORTH = 86_400_000;
/** After so many failures in a row an application gets one attempt in so many milliseconds. */
const FAILING = { after: 5, pause: 60_000 };
/**
 * The part of a failure that a refused token is. A person can have `MOST_GRANTS` sessions that an application does not
 * know, since they never went there, and the logout of a known session must not wait for a minute behind each of these.
 */
const OF_REFUSAL = 1 / 50;
/** How many logouts of failing applications are given up at a time. */
const GIVEN_UP = 50;

interface LogoutServer extends LogoutSender {
  readonly stores: Stores;
  readonly recorder: Recorder;
  readonly longestLife: number;
}

/** The last attempts at an application, in this process. Times are of the monotonic clock. */
interface Attempts {
  readonly failures: number;
  /** No attempt before this time. */
  readonly next: number;
  /** When this process last turned to the application. */
  readonly turn: number;
}

const NONE: Attempts = { failures: 0, next: 0, turn: 0 };

/**
 * Tells applications that sessions have ended. The end itself has written the logouts, so if the process is killed or
 * an application is down, a logout is delayed and not lost. An application that hangs delays no other.
 */
export function logoutChore(server: LogoutServer, log: Log): Chore & AsyncDisposable {
  const { stores, clock, recorder } = server;
  const attempts = new RecentMap<Attempts>(10_000);
  const busy = new Map<string, Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  const ending = new AbortController();

  /** Resolves to how much of a failure it was: 0 if the application was told, or need not be told. */
  async function deliver(logout: TakenLogout): Promise<number> {
    const { id, clientId, accountId: subject, attempt, created } = logout;
    if (subject === undefined) {
      // The removal of grants writes a logout for each of them.
      await endForbidden(server, clientId);
      await clearClient(server, clientId, await stores.revocations.generation('client', clientId));
      await stores.logouts.remove(id);
      return 0;
    }
    const client = await stores.clients.get(clientId);
    const { backchannel_logout_uri: url } = client ?? {};
    if (client === undefined || url === undefined) {
      await stores.logouts.remove(id);
      return 0;
    }
    const about = { person: subject, client: clientId };
    const unsent = await sendLogout(server, { ...client, backchannel_logout_uri: url }, logout);
    if (unsent === undefined) {
      await recorder.changing('logouts', { kind: 'logout.told', ...about }).remove(id);
      log.info('logout.told', { client: clientId, subject });
      return 0;
    }
    const { reason, isRefused } = unsent;
    const now = clock.now();
    if (now - created >= WORTH) {
      await giveUp(id, about, reason);
    } else {
      const wait = Math.min(WAIT.first * 2 ** (attempt - 1), WAIT.most);
      await stores.logouts.postpone(id, now + wait);
      log.warn('logout.postponed', { client: clientId, subject, reason });
    }
    return isRefused ? OF_REFUSAL : 1;
  }

  async function giveUp(
    id: string,
    about: { readonly person: string; readonly client: string },
    reason: string,
  ): Promise<void> {
    await recorder.changing('logouts', { kind: 'logout.untold', ...about, reason }).remove(id);
    log.warn('logout.given-up', { client: about.client, subject: about.person, reason });
  }

  /**
   * Gives up old logouts of applications that fail. With one attempt a minute they would never end. An application that
   * works again first gets the old ones, too.
   */
  async function giveUpOld(): Promise<void> {
    const old = await stores.logouts.endedBefore(clock.now() - WORTH, GIVEN_UP);
    for (const { id, clientId: client, accountId: person } of old) {
      const { failures } = stateOf(client);
      if (person === undefined || failures < FAILING.after || busy.has(client)) continue;
      await giveUp(
        id,
        { person, client },
        `the application failed ${Math.floor(failures)} times in a row`,
      );
    }
  }

  const hasTurn = (client: string) =>
    busy.size < APPLICATIONS &&
    (!isDocumentUrl(client) || [...busy.keys()].filter(isDocumentUrl).length < OF_DOCUMENTS);

  const stateOf = (client: string) => attempts.get(client) ?? NONE;

  /** Sends what is due for an application, until it fails. */
  async function work(clientId: string): Promise<void> {
    for (let goesOn = true; goesOn && !ending.signal.aborted;) {
      const { failures } = stateOf(clientId);
      const now = clock.now();
      const count = failures >= FAILING.after ? 1 : EACH;
      const taken = await stores.logouts.take(clientId, now, now + OURS, count);
      const losses = await Promise.all(taken.map(deliver));
      const lost = losses.reduce((sum, one) => sum + one, 0);
      const inARow = (losses.includes(0) ? 0 : failures) + lost;
      const pause = inARow >= FAILING.after ? FAILING.pause : 0;
      const turn = clock.monotonic();
      attempts.set(clientId, { failures: inARow, next: turn + pause, turn });
      goesOn = taken.length > 0 && lost < 1 && pause === 0 && busy.size < APPLICATIONS;
    }
  }

  return {
    name: 'logout',
    seconds: EVERY,
    async run() {
      if (failure) {
        const { error } = failure;
        failure = undefined;
        throw error;
      }
      const now = clock.monotonic();
      const waiting = (await stores.logouts.due(clock.now()))
        .filter((client) => !busy.has(client) && stateOf(client).next <= now)
        .toSorted((a, b) => stateOf(a).turn - stateOf(b).turn);
      for (const client of waiting) {
        if (!hasTurn(client)) continue;
        const working = work(client)
          .catch((error: unknown) => void (failure = { error }))
          .finally(() => busy.delete(client));
        busy.set(client, working);
      }
      await giveUpOld();
    },
    /** Waits for the requests under way; a later start sends the rest. */
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(busy.values());
    },
  };
}

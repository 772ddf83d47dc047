import type { Recorder } from '#shared/audit/recorder.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Config } from '#shared/config/schema.ts';
import { type ClientRecord, type Clients, DOCUMENT_KIND } from '#shared/stores/oauth/clients.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { BadDocument } from './document.ts';
import { isDocumentUrl } from './document-url.ts';
import { type DocumentNetwork, fetchDocument } from './fetch-document.ts';
import { recordOf, withRights } from './record.ts';
import { isTaken } from './reach.ts';

/** Seconds for which a client is kept that no person has allowed anything. */
const KEPT = 3600;
/** Milliseconds after which an old description is no longer used, even if no newer one can be fetched. */
const OLDEST = 86_400_000;

/**
 * The limit of fetches of unknown documents from one host, by all visitors, so that no visitor can make this server
 * flood the host. `per`: seconds until another fetch is possible.
 */
const OF_HOST = { burst: 30, per: 2 };
/** The limit of fetches of unknown documents for one address. */
const OF_ADDRESS = { burst: 20, per: 3 };
/**
 * The limit of such fetches for one address at one host: four addresses are needed to exhaust the host's burst, and
 * ten to keep it exhausted.
 */
const OF_ADDRESS_AT_HOST = { burst: 8, per: 20 };
/** The limit of fetches of unknown documents for all addresses together, whatever hosts they name. */
const OF_ALL = { burst: 120, per: 0.5 };
/** Most fetches at a time in this process; fetches of unknown documents leave room for known clients. */
const AT_ONCE = 32;
const AT_ONCE_UNKNOWN = 24;
/** The limit of fetches of a known document, apart from the limits of strangers. */
const OF_CLIENT = { burst: 5, per: 15 };

/** The limit of clients that one person may allow. */
const OF_PERSON = { burst: 20, per: 3600 };

/** Thrown if the limit of fetches is reached: no document is fetched for so many seconds. */
export class FetchLater extends Error {
  override readonly name = 'FetchLater';
  readonly seconds: number;

  constructor(seconds: number) {
    super(`documents are fetched again in ${seconds} s`);
    this.seconds = seconds;
  }
}

export interface DocumentClients {
  /** The clients in the store, for operators. */
  readonly stored: Clients;
  /** Finds a client in the store, or as it was fetched within the hour. It fetches no document. */
  get(clientId: string): Promise<ClientRecord | undefined>;
  /**
   * Finds a client with a current description. An unknown document is fetched. A description that is older than its
   * fields allow is fetched again after the answer, and one of more than a day before it. `asker`: identifies the
   * visitor for the limits. Throws `BadDocument` and `FetchLater`.
   */
  current(clientId: string, asker: string): Promise<ClientRecord | undefined>;
  /**
   * Stores a client that a person is about to allow something. The number for each person is limited. Throws
   * `FetchLater`.
   */
  keep(client: ClientRecord, accountId: string): Promise<void>;
}

interface Parts {
  readonly config: Config;
  readonly stores: Pick<Stores, 'artefacts' | 'clients' | 'limits'>;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly log: Log;
}

/** Creates the clients that Client ID Metadata Documents describe, in addition to registered clients. */
export function createDocumentClients(parts: Parts, network: DocumentNetwork): DocumentClients {
  const { config, stores, recorder, clock, log } = parts;
  const under = new Map<string, Promise<ClientRecord>>();

  async function get(clientId: string): Promise<ClientRecord | undefined> {
    const stored = await stores.clients.get(clientId);
    if (stored?.document === undefined && stored !== undefined) return stored;
    const isRegistered = stored?.document?.registered === true;
    if (!isDocumentUrl(clientId) || !(isRegistered || isTaken(config, clientId))) return undefined;
    const found = stored ?? (await stores.artefacts.get(DOCUMENT_KIND, clientId))?.['client'];
    return found === undefined ? undefined : withRights(config, found as ClientRecord);
  }

  async function spend(clientId: string, asker: string, isNew: boolean): Promise<void> {
    const { hostname } = new URL(clientId);
    const ofUnknown = [
      ['documents-address', asker, OF_ADDRESS],
      ['documents-address-host', `${hostname} ${asker}`, OF_ADDRESS_AT_HOST],
      ['documents-host', hostname, OF_HOST],
      ['documents-address', 'all', OF_ALL],
      // This limit applies to the row that a visitor leaves in the store.
      ['all-visits', 'all', config.limits.allVisits],
    ] as const;
    const buckets = isNew ? ofUnknown : ([['documents-client', clientId, OF_CLIENT]] as const);
    for (const [namespace, key, rate] of buckets) {
      const spent = await stores.limits.spend(namespace, key, rate);
      if (!spent.ok) throw new FetchLater(spent.retryAfter);
    }
  }

  async function fetchAnew(
    clientId: string,
    asker: string,
    was: ClientRecord | undefined,
  ): Promise<ClientRecord> {
    await spend(clientId, asker, was === undefined);
    const { document, fresh } = await fetchDocument(clientId, network);
    const client = recordOf(clientId, document, { now: clock.now(), fresh, was });
    // The client is looked up again, since a person may have allowed something meanwhile.
    const stored = await stores.clients.get(clientId);
    if (stored === undefined) await keepForNow(client);
    else await replaceStored(client, stored);
    return withRights(config, client);
  }

  const keepForNow = (client: ClientRecord) =>
    stores.artefacts.put({
      kind: DOCUMENT_KIND,
      id: client.client_id,
      payload: { client },
      seconds: KEPT,
    });

  /** If two processes replace the client at once, the first change stays. */
  async function replaceStored(client: ClientRecord, stored: ClientRecord): Promise<void> {
    const changed = { kind: 'client.changed', client: client.client_id } as const;
    const clients: Clients =
      client.document?.changed === stored.document?.changed
        ? stores.clients
        : recorder.changing('clients', changed);
    const stands = await clients.replace(client, stored);
    // The client was unused, and was removed meanwhile: its next request waits for a person again.
    if (!stands && (await stores.clients.get(client.client_id)) === undefined) {
      await keepForNow(client);
    }
  }

  /** Runs one fetch at a time for a client in this process. */
  function fetchOnce(
    clientId: string,
    asker: string,
    was: ClientRecord | undefined,
  ): Promise<ClientRecord> {
    const running = under.get(clientId);
    if (running) return running;
    if (under.size >= (was ? AT_ONCE : AT_ONCE_UNKNOWN)) return Promise.reject(new FetchLater(1));
    const fetching = fetchAnew(clientId, asker, was).finally(() => under.delete(clientId));
    under.set(clientId, fetching);
    return fetching;
  }

  return {
    stored: stores.clients,
    get,

    async current(clientId, asker) {
      const known = await get(clientId);
      if (known?.document === undefined) {
        const isNew = known === undefined && isDocumentUrl(clientId) && isTaken(config, clientId);
        return isNew ? fetchOnce(clientId, asker, undefined) : known;
      }
      const now = clock.now();
      const { fetched, until } = known.document;
      if (now >= fetched && now < until) return known;
      const fetching = fetchOnce(clientId, asker, known);
      if (Math.abs(now - fetched) >= OLDEST) return fetching;
      fetching.catch((error: unknown) => {
        if (error instanceof FetchLater) return;
        const told =
          error instanceof BadDocument
            ? { refusal: error.words.code, reason: error.message }
            : { reason: String(error) };
        log.warn('client-document.refresh', { client: clientId, ...told });
      });
      return known;
    },

    async keep(client, accountId) {
      if (client.document === undefined) return;
      if ((await stores.clients.get(client.client_id)) !== undefined) return;
      const spent = await stores.limits.spend('document-clients', accountId, OF_PERSON);
      if (!spent.ok) throw new FetchLater(spent.retryAfter);
      const added = { kind: 'client.added', client: client.client_id } as const;
      await recorder.changing('clients', added).add(client);
    },
  };
}

import type { Recorder } from '#shared/audit/recorder.ts';
import type { DocumentClients } from '#shared/client-documents/document-clients.ts';
import type { DocumentNetwork } from '#shared/client-documents/fetch-document.ts';
import type { Send } from '#shared/client/send.ts';
import type { Directory } from '#shared/people/directory.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import type { Sources } from '../sources/sources.ts';
import type { Parts } from '#shared/server/process.ts';

/** The parts of the server that its pages use. */
export interface PagesServer
  extends Omit<Parts, 'log' | 'feed' | 'ready'>, Pick<PeopleStore, 'passwords' | 'realms'> {
  readonly directory: Directory;
  /** Records the server's own actions; `asPerson` in acting.ts returns a recorder for a person's actions. */
  readonly recorder: Recorder;
  /** Whether answers contain their reason, which helps an attacker, too. */
  readonly development: boolean;
  /** Sends a message to the URI at which a client of GNAP wants to be notified, if `gnap.push` permits the URI. */
  readonly sendPush: Send;
  /** The sources of people, by name. */
  readonly sources: Sources;
  /** Clients with Client ID Metadata Documents; `stores.clients` finds them, too. */
  readonly documents: DocumentClients;
  /** The network through which operators fetch metadata documents. */
  readonly documentNetwork: DocumentNetwork;
  /** The longest lifetime of a token, in seconds. */
  readonly longestLife: number;
}

/** The parts that the authorization server uses. */
export interface AuthzServer extends PagesServer, Pick<Parts, 'feed' | 'ready'> {
  /** Whether clients that the first start created may be used. */
  readonly demoClients: boolean;
}

import type { Recorder } from '#shared/audit/recorder.ts';
import type { DocumentClients } from '#shared/client-documents/document-clients.ts';
import type { DocumentNetwork } from '#shared/client-documents/fetch-document.ts';
import type { Send } from '#shared/client/send.ts';
import type { Directory } from '#shared/people/directory.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import type { Parts } from '#shared/server/process.ts';

/** The parts of the server that its pages use. */
export interface PagesServer
  extends Omit<Parts, 'log' | 'feed' | 'ready'>, Pick<PeopleStore, 'passwords' | 'realms'> {
  readonly directory: Directory;
  /** Records what the server itself does; `asPerson` in acting.ts gives one for a person. */
  readonly recorder: Recorder;
  /** Whether answers have their reason. It helps an attacker, too. */
  readonly development: boolean;
  /** Sends a message to where a client of GNAP wants to be told, if `gnap.push` permits it. */
  readonly sendPush: Send;
  /** Clients by their Client ID Metadata Documents, which `stores.clients` finds, too. */
  readonly documents: DocumentClients;
  /** The network by which operators fetch them. */
  readonly documentNetwork: DocumentNetwork;
  /** Seconds: the longest life of a token. */
  readonly longestLife: number;
}

/** The parts that the authorization server uses. */
export interface AuthzServer extends PagesServer, Pick<Parts, 'feed' | 'ready'> {
  /** Whether clients that the first start made may be used. */
  readonly demoClients: boolean;
}

import type { Lock } from '#shared/stores/trees/trees.ts';
import type { LockSystem } from '../../resources/webdav/lock-system.ts';
import type { RecordedMessage } from '../recorded.ts';
import type { SeenDocument } from './document-state.ts';

/** A request to a space of documents, and the state that it meets. */
export interface DocumentKnown {
  readonly asked: RecordedMessage;
  readonly method: string;
  /** The path within the space; '' is that of the space itself. */
  readonly path: string;
  readonly document: SeenDocument | undefined;
  /** The entity tag of the result of a query, if the target is the address that asks it again. */
  readonly kept: string | undefined;
  readonly held: readonly Lock[];
  readonly locks: LockSystem;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

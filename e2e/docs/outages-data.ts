/**
 * A fault of the disk below SQLite, and its signs for operators and clients. `e2e/flows/outages.test.ts`
 * tests each row.
 */
export interface Outage {
  readonly what: string;
  /** The kind of fault that the test causes. */
  readonly fault: 'full' | 'read-only' | 'permissions' | 'errors' | 'moved' | 'content' | 'damaged';
  /**
   * The statuses of `/health/ready` and `/health/ready?for=reading`. The metrics show the same as 0 and 1.
   */
  readonly ready: number;
  readonly reading: number;
  /** The resource server's statuses for a long document (a file) and a short one (a row). */
  readonly get: number;
  /** The status for a short document, if it differs. */
  readonly getShort?: number;
  readonly put: number;
  readonly remove: number;
  /** The status of `/token` for client credentials, if the client had no token in this minute. */
  readonly token: number;
  /** The status of a revocation of such a token. */
  readonly revoke: number;
  /** The resource server's log event, its subject, and words of its `reason`. */
  readonly event: 'store.failing' | 'content.damaged';
  readonly part: string;
  readonly reason: string;
  readonly remedy: string;
}

const event = 'store.failing';
const NOTHING = {
  ready: 503,
  reading: 503,
  get: 503,
  put: 503,
  remove: 503,
  token: 503,
  revoke: 503,
  event,
} as const;
const [READING, WRITING] = ['state.db, reading', 'state.db, writing'];

export const OUTAGES: readonly Outage[] = [
  {
    what: 'The disk is full, or a quota is used up',
    fault: 'full',
    ready: 503,
    reading: 200,
    get: 200,
    put: 507,
    remove: 204,
    token: 503,
    revoke: 200,
    event,
    part: WRITING,
    reason: 'full',
    remedy: 'Remove documents over HTTP, or make room on the disk',
  },
  {
    what: 'The file system is read-only',
    fault: 'read-only',
    ready: 503,
    reading: 503,
    get: 200,
    put: 503,
    remove: 503,
    token: 503,
    revoke: 503,
    event,
    part: WRITING,
    reason: 'read-only',
    remedy: 'Look for errors of the disk in the log of the kernel, and mount it for writing',
  },
  {
    ...NOTHING,
    what: 'The user of the servers may not enter the data folder any more',
    fault: 'permissions',
    part: READING,
    reason: 'permission denied',
    remedy: 'Give the folder and its files back to this user',
  },
  {
    ...NOTHING,
    what: 'The disk has errors, or its server does not answer (EIO, ESTALE)',
    fault: 'errors',
    part: READING,
    reason: 'i/o error',
    remedy: 'Mount it again, or restore a backup on another disk',
  },
  {
    ...NOTHING,
    what: 'The data folder was moved or removed',
    fault: 'moved',
    part: READING,
    reason: 'there is no such file',
    remedy: 'Move it back',
  },
  {
    what: 'The content file of a document is cut or lost; other documents are not affected',
    fault: 'content',
    ready: 200,
    reading: 200,
    get: 500,
    getShort: 200,
    put: 204,
    remove: 204,
    token: 200,
    revoke: 200,
    event: 'content.damaged',
    part: 'content/%2Fdocuments/',
    reason: 'bytes, not',
    remedy:
      'Write the document again or delete it over HTTP, or take its file from the `content` of a backup; `backup` names all such documents',
  },
  {
    ...NOTHING,
    what: 'Pages of `state.db` are damaged',
    fault: 'damaged',
    part: READING,
    reason: 'malformed',
    remedy: 'Restore a backup. The servers fail until the file is replaced',
  },
];

import { DatabaseSync } from 'node:sqlite';
import type { Adapter, AdapterPayload } from 'oidc-provider';

/**
 * A minimal oidc-provider adapter. Each write is on the disk before it is acknowledged (WAL, synchronous =
 * FULL), as in our store for codes and refresh tokens.
 */
export function sqliteAdapter(file: string): new (kind: string) => Adapter {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE artefact (
      kind TEXT, id TEXT, payload TEXT, grant_id TEXT, expires INTEGER, consumed INTEGER,
      PRIMARY KEY (kind, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX artefact_grant ON artefact (grant_id)`);
  const upsert = database.prepare('INSERT OR REPLACE INTO artefact VALUES (?, ?, ?, ?, ?, NULL)');
  const find = database.prepare(
    'SELECT payload, consumed FROM artefact WHERE kind = ? AND id = ? AND expires > ?',
  );
  const consume = database.prepare('UPDATE artefact SET consumed = ? WHERE kind = ? AND id = ?');
  const destroy = database.prepare('DELETE FROM artefact WHERE kind = ? AND id = ?');
  const revoke = database.prepare('DELETE FROM artefact WHERE kind = ? AND grant_id = ?');
  const now = () => Math.floor(Date.now() / 1000);

  return class implements Adapter {
    readonly #kind: string;

    constructor(kind: string) {
      this.#kind = kind;
    }

    async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
      const grant = payload.grantId ?? null;
      upsert.run(this.#kind, id, JSON.stringify(payload), grant, now() + expiresIn);
    }

    async find(id: string): Promise<AdapterPayload | undefined> {
      const row = find.get(this.#kind, id, now());
      if (row === undefined) return undefined;
      const payload = JSON.parse(String(row['payload'])) as AdapterPayload;
      return row['consumed'] === null ? payload : { ...payload, consumed: Number(row['consumed']) };
    }

    async consume(id: string): Promise<void> {
      consume.run(now(), this.#kind, id);
    }

    async destroy(id: string): Promise<void> {
      destroy.run(this.#kind, id);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      revoke.run(this.#kind, grantId);
    }

    async findByUid(): Promise<undefined> {}

    async findByUserCode(): Promise<undefined> {}
  };
}

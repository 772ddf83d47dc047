import { Connection } from '#shared/stores/sqlite/file/connection.ts';
import type { Schema } from '#shared/stores/sqlite/file/schema.ts';
import type { CacheKey, Stored } from '../rules/stored.ts';

/** A power cut may undo the last changes: all since some moment, so that no position is left without what was removed before it. */
const SCHEMA: Schema = {
  file: 'answers.db',
  synchronous: 'NORMAL',
  reserveFor: 'removals',
  migrations: [
    `-- seq names the file of the content.
     CREATE TABLE answer (
       seq INTEGER PRIMARY KEY,
       space TEXT NOT NULL,
       id TEXT NOT NULL,
       target TEXT NOT NULL,
       whose TEXT NOT NULL,
       content TEXT NOT NULL,
       received INTEGER NOT NULL,
       length INTEGER NOT NULL,
       octets INTEGER NOT NULL,
       crc INTEGER NOT NULL,
       record TEXT NOT NULL
     ) STRICT;
     CREATE INDEX answer_space ON answer (space);

     CREATE TABLE feed (
       one INTEGER PRIMARY KEY CHECK (one = 1),
       position TEXT NOT NULL
     ) STRICT;`,
  ],
  expired: {},
};

/** The data of an answer that is in memory. */
export interface Row extends CacheKey {
  readonly seq: number;
  readonly id: string;
  readonly received: number;
  /** Octets of its content. */
  readonly length: number;
  /** The length of the content and of its description. */
  readonly octets: number;
}

/** The rows of one process, for all its spaces. Throws what node:sqlite throws, where nothing else is said. */
export class DiskRows implements Disposable {
  readonly #connection: Connection;
  /** The numbers of answers that are gone, but that the disk had no room to delete. */
  readonly #owed = new Set<number>();
  #last: number;

  /** Makes the file where it is missing. */
  constructor(path: string) {
    this.#connection = new Connection(path, SCHEMA, { create: true });
    this.#last = Number(this.#connection.all('SELECT ifnull(max(seq), 0) FROM answer')[0]?.[0]);
  }

  /** Never given again while a row has it. */
  nextSeq(): number {
    return (this.#last += 1);
  }

  /** Deletes those of other spaces. Returns the numbers of all that are left. */
  retain(spaces: readonly string[]): ReadonlySet<number> {
    this.#write(() => {
      this.#connection.run(
        'DELETE FROM answer WHERE space NOT IN (SELECT value FROM json_each(?))',
        JSON.stringify(spaces),
      );
    });
    const rows = this.#connection.all<[number]>('SELECT seq FROM answer');
    return new Set(rows.map(([seq]) => seq));
  }

  /** Those of a space, the one first that was kept first. */
  of(space: string): readonly Row[] {
    const rows = this.#connection.all<
      [number, string, string, string, string, number, number, number]
    >(
      `SELECT seq, id, target, whose, content, received, length, octets FROM answer
       WHERE space = ? ORDER BY seq`,
      space,
    );
    return rows.map(([seq, id, target, whose, content, received, length, octets]) => ({
      seq,
      id,
      target,
      whose,
      content,
      received,
      length,
      octets,
    }));
  }

  stored(seq: number): Stored | undefined {
    const [row] = this.#connection.all<[string]>('SELECT record FROM answer WHERE seq = ?', seq);
    return row && (JSON.parse(row[0]) as Stored);
  }

  crc(seq: number): number | undefined {
    return this.#connection.all<[number]>('SELECT crc FROM answer WHERE seq = ?', seq)[0]?.[0];
  }

  /** In place of those that are replaced. */
  add(
    space: string,
    row: Row,
    { stored, crc, replaced }: { stored: Stored; crc: number; replaced: readonly number[] },
  ): void {
    const { seq, id, target, whose, content, received, length, octets } = row;
    this.#write(() => {
      this.#connection.run(
        'INSERT INTO answer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
        seq,
        space,
        id,
        target,
        whose,
        content,
        received,
        length,
        octets,
        crc,
        JSON.stringify(stored),
      );
      this.#delete(replaced);
    });
  }

  change({ seq, received, octets }: Row, stored: Stored): void {
    this.#write(() => {
      this.#connection.run(
        'UPDATE answer SET received = ?, octets = ?, record = ? WHERE seq = ?',
        received,
        octets,
        JSON.stringify(stored),
        seq,
      );
    });
  }

  /** Throws nothing: what cannot be deleted now is with the next change, and before a position is written. */
  forget(seqs: readonly number[]): void {
    for (const seq of seqs) this.#owed.add(seq);
    try {
      this.#write(() => {});
    } catch {
      // It is owed.
    }
  }

  get position(): string | undefined {
    return this.#connection.all<[string]>('SELECT position FROM feed')[0]?.[0];
  }

  /** Together with all that is owed, or not at all. */
  setPosition(position: string): void {
    this.#write(() => {
      this.#connection.run('INSERT OR REPLACE INTO feed VALUES (1, ?)', position);
    });
  }

  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }

  #write(work: () => void): void {
    const done = this.#connection.write(() => {
      this.#delete(this.#owed);
      work();
    }, 0);
    if (!done) throw new Error('another process writes to the answers of this one');
    this.#owed.clear();
  }

  #delete(seqs: Iterable<number>): void {
    for (const seq of seqs) this.#connection.run('DELETE FROM answer WHERE seq = ?', seq);
  }
}

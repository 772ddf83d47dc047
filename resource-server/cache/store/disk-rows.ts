import { Connection } from '#shared/stores/sqlite/file/connection.ts';
import type { Schema } from '#shared/stores/sqlite/file/schema.ts';
import type { CacheKey, Stored } from '../rules/stored.ts';

/** A power cut may undo all changes after some moment, but never a removal whose feed position stays. */
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

/** The data of an answer that stays in memory. */
export interface Row extends CacheKey {
  readonly seq: number;
  readonly id: string;
  readonly received: number;
  /** Octets of the content. */
  readonly length: number;
  /** Octets of the content and of its description. */
  readonly octets: number;
}

/** The rows of one process, for all its spaces. Methods throw errors of node:sqlite, unless stated otherwise. */
export class DiskRows implements Disposable {
  readonly #connection: Connection;
  /** The numbers of removed answers whose rows could not be deleted on the full disk. */
  readonly #owed = new Set<number>();
  #last: number;

  /** Creates the file if it is missing. */
  constructor(path: string) {
    this.#connection = new Connection(path, SCHEMA, { create: true });
    this.#last = Number(this.#connection.all('SELECT ifnull(max(seq), 0) FROM answer')[0]?.[0]);
  }

  /** Returns a number that no row has. */
  nextSeq(): number {
    return (this.#last += 1);
  }

  /** Deletes the rows of all other spaces. Returns the numbers of the remaining answers. */
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

  /** Returns the rows of a space, the first stored first. */
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

  /** Adds a row in place of the replaced rows. */
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

  /**
   * Deletes rows, and never throws. Rows that cannot be deleted now are deleted with the next change, and before a
   * position is written.
   */
  forget(seqs: readonly number[]): void {
    for (const seq of seqs) this.#owed.add(seq);
    try {
      this.#write(() => {});
    } catch {
      // The rows stay in #owed.
    }
  }

  get position(): string | undefined {
    return this.#connection.all<[string]>('SELECT position FROM feed')[0]?.[0];
  }

  /** Writes the position together with all outstanding deletions, or not at all. */
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

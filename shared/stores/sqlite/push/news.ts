import type { Push } from '../../push/push.ts';
import type { Statements } from '../file/connection.ts';
import type { SqliteFile } from '../file/file.ts';

/** Tells whoever follows the news that something has happened to a subscription or receipt subscription. */
export function tell(connection: Statements, about: string, now: number): void {
  connection.run('INSERT INTO push_news (about, at) VALUES (?, ?)', about, Math.floor(now));
}

export function sqliteNews(file: SqliteFile): Pick<Push, 'news' | 'beginningOf'> {
  return {
    beginningOf: () => '',

    news: (ids, position) =>
      file.read((connection) => {
        if (position === undefined) {
          const [[last] = [0]] = connection.all<[number]>(
            `SELECT seq FROM sqlite_sequence WHERE name = 'push_news'`,
          );
          return { position: String(last), of: new Set(ids) };
        }
        const rows = connection.all<[place: number, about: string]>(
          'SELECT place, about FROM push_news WHERE place > ? ORDER BY place',
          Number(position),
        );
        const [last] = rows.at(-1) ?? [position];
        return { position: String(last), of: new Set(rows.map(([, about]) => about)) };
      }),
  };
}

import type { Push } from '../../push/push.ts';
import { insert } from '../rows.ts';
import type { Database, Sql } from '../sql.ts';

/** Tells whoever follows the news that something has happened to a subscription or receipt subscription. */
export async function tell(sql: Sql, about: string, now: number): Promise<void> {
  await insert(sql, 'push_news', { about, at: now });
}

export function sqlNews(database: Database): Pick<Push, 'news'> {
  return {
    news: (ids, position) =>
      database.read(async (sql) => {
        if (position === undefined) {
          const [[last] = [0]] = await sql.all<[number]>('SELECT LAST(push_news, place)');
          return { position: String(last), of: new Set(ids) };
        }
        const text = 'SELECT place, about FROM push_news WHERE place > ? ORDER BY place';
        const rows = await sql.all<[place: number, about: string]>(text, Number(position));
        const [last] = rows.at(-1) ?? [position];
        return { position: String(last), of: new Set(rows.map(([, about]) => about)) };
      }),
  };
}

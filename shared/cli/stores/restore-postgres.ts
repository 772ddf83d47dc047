import { join, resolve } from 'node:path';
import { checkBackup } from '#shared/stores/backup/check.ts';
import { keepContent, placeContent } from '#shared/stores/backup/place-content.ts';
import type { PostgresSettings } from '#shared/stores/settings.ts';
import { Failure, type Report, type Shell } from '../arguments/command.ts';
import { refuseDamaged, type Restored, stage, timeIn, type Wanted } from './stage.ts';

/**
 * Restores a backup into PostgreSQL. If it rejects with `Failure`, the former store is unchanged, unless the message
 * says that PostgreSQL may have done it.
 */
export async function toPostgres(
  store: PostgresSettings,
  { folder, data, unchecked, replace }: Wanted,
  shell: Shell,
): Promise<Restored> {
  const time = timeIn(shell);
  const staged = join(data, 'restoring');
  const content = join(data, 'content');
  const kept = join(resolve(data), `replaced-${time}`);
  const aside = `${store.schema}_${time.replaceAll(/\D/g, '')}`;
  const mistakes = checkBackup(folder);
  if (!unchecked) refuseDamaged(folder, mistakes);
  let isKept = false;
  let found: Awaited<ReturnType<typeof stage>> = { files: 0, missing: 0 };
  const { restorePostgres, StoreExists } = await import('#shared/stores/backup/to-postgres.ts');
  const wasThere = await orFailure(() =>
    restorePostgres(store, {
      aside: replace ? aside : undefined,
      stage: async () => {
        found = await stage(folder, staged, shell, 'postgres');
        return staged;
      },
      place: async (isReplaced) => {
        if (isReplaced) isKept = await keepContent(content, join(kept, 'content'));
        await placeContent(join(staged, 'content'), content);
      },
    }).catch((error: unknown) => {
      if (!(error instanceof StoreExists)) throw error;
      throw new Failure(`${error.message}. With --replace it is renamed, and nothing is deleted`);
    }),
  );
  return {
    ...found,
    mistakes,
    ...(wasThere && {
      replaced: aside,
      where: `the schema ${aside}${isKept ? `, its longer content in ${kept}` : ''}`,
    }),
    to: `the schema ${store.schema} and ${data}`,
  };
}

/** Ends what was issued, after the operator has restored PostgreSQL itself. Rejects with `Failure`. */
export async function afterRecovery(store: PostgresSettings): Promise<Report> {
  const { endAllIssued } = await import('#shared/stores/postgres/recovered.ts');
  await orFailure(() => endAllIssued(store));
  return {
    json: { schema: store.schema },
    lines: [
      `All tokens, grants and sign-ins in the schema ${store.schema} have ended.`,
      'Disable or remove again everything that you disabled or removed since the point that PostgreSQL was restored to.',
      'Start no server within a quarter of an hour after the last one was stopped: nobody knows which Kerberos tickets and client assertions were used.',
    ],
  };
}

async function orFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { InDoubt } = await import('#shared/stores/postgres/commit.ts');
    if (error instanceof InDoubt) {
      throw new Failure(
        `PostgreSQL may have done it all the same (${error.message}): start it, and run the command again`,
      );
    }
    throw new Failure(`cannot restore to PostgreSQL: ${(error as Error).message}`);
  }
}

import * as z from 'zod';

/** The setting `backup`: the period of backups, and where the authorization server makes them. */
export const backupSettings = z
  .strictObject({
    folder: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Folder for the backups, best on another disk; with SQLite it is needed. Each backup is a folder in it, named by the begin of its period in UTC. With PostgreSQL each machine that has one makes its own.',
      ),
    every: z
      .int()
      .min(60)
      .max(31 * 86_400)
      .default(86_400)
      .describe(
        'Seconds between two backups. Periods are counted from midnight UTC of 1970-01-01; a period in which no server ran is left out. The log warns of a period without a good backup.',
      ),
    keep: z
      .int()
      .min(1)
      .max(1000)
      .default(7)
      .describe(
        'How many backups are kept. Older backups are removed after a new backup was checked.',
      ),
  })
  .optional()
  .describe(
    'Backups that the authorization server makes by itself. PostgreSQL has its own tools, too: without a folder, `every` says how often you run `countersign backup record`. Absent: no backups, and no warning of an overdue backup.',
  );

export type BackupSettings = NonNullable<z.infer<typeof backupSettings>>;

/** Settings of backups that the server makes by itself. */
export type ScheduleSettings = BackupSettings & { readonly folder: string };

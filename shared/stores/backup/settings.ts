import * as z from 'zod';

/** The setting `backup`: the period of backups, and where the authorization server makes them. */
export const backupSettings = z
  .strictObject({
    folder: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Folder for the backups, if possible on another disk. With SQLite the folder is necessary. Each backup is a subfolder, named by the beginning of its period in UTC. With PostgreSQL, each machine with a folder makes its own backups.',
      ),
    every: z
      .int()
      .min(60)
      .max(31 * 86_400)
      .default(86_400)
      .describe(
        'Seconds between two backups. Periods begin at midnight UTC of 1970-01-01. A period in which no server runs has no backup. The log warns of a period without a valid backup.',
      ),
    keep: z
      .int()
      .min(1)
      .max(1000)
      .default(7)
      .describe(
        'Number of backups that the server keeps. The server removes older backups after it has checked a new backup.',
      ),
  })
  .optional()
  .describe(
    'Backups that the authorization server makes by itself. If you use the tools of PostgreSQL instead, leave `folder` out; `every` then says how often you run `countersign backup record`. Without this member there are no backups, and no warning of an overdue backup.',
  );

export type BackupSettings = NonNullable<z.infer<typeof backupSettings>>;

/** Settings of backups that the server makes by itself. */
export type ScheduleSettings = BackupSettings & { readonly folder: string };

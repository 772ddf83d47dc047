import { z } from 'zod';

/** The setting `backup`: backups of the embedded store that the authorization server makes by itself. */
export const backupSettings = z
  .strictObject({
    folder: z
      .string()
      .min(1)
      .describe(
        'Folder for the backups, best on another disk. Each is a folder in it, named by the begin of its period in UTC.',
      ),
    every: z
      .int()
      .min(60)
      .max(31 * 86_400)
      .default(86_400)
      .describe(
        'Seconds between two backups. Periods are counted from midnight UTC of 1970-01-01; one that passed while no server ran is left out.',
      ),
    keep: z
      .int()
      .min(1)
      .max(1000)
      .default(7)
      .describe('How many backups are kept. Older ones are removed after a new one was checked.'),
  })
  .optional()
  .describe(
    'Backups that the authorization server makes by itself, with SQLite only. Absent: none. Redis has tools of its own.',
  );

export type BackupSettings = NonNullable<z.infer<typeof backupSettings>>;

import * as z from 'zod';

/** The setting `audit`: the log of changes and their actors. */
export const auditSettings = z
  .strictObject({
    addresses: z
      .boolean()
      .default(false)
      .describe(
        'Stores the IP address of the client with each event. IP addresses are personal data.',
      ),
    keep: z
      .int()
      .min(1)
      .max(36_500)
      .default(400)
      .describe(
        'Number of days for which the log keeps events. The server removes older days as a whole.',
      ),
    required: z
      .boolean()
      .default(true)
      .describe(
        'Refuses a sign-in or a token (503) if the server cannot write its event. With `false` the server goes on without the event, and a log line says so. A change in the store and its event are always written together.',
      ),
  })
  .prefault({})
  .describe('The audit log.');

export type AuditSettings = z.infer<typeof auditSettings>;

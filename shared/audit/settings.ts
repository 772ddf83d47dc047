import * as z from 'zod';

/** The setting `audit`: the log of changes and their actors. */
export const auditSettings = z
  .strictObject({
    addresses: z
      .boolean()
      .default(false)
      .describe('Keeps the address of the client with each event. It is personal data.'),
    keep: z
      .int()
      .min(1)
      .max(36_500)
      .default(400)
      .describe('For how many days events are kept. Older days are removed whole.'),
    required: z
      .boolean()
      .default(true)
      .describe(
        'Refuses a sign-in or a token (503) if its event cannot be written. With `false` it goes on, and a line of the log says so. The event of a change in the store is always written together with it.',
      ),
  })
  .prefault({})
  .describe('The audit log.');

export type AuditSettings = z.infer<typeof auditSettings>;

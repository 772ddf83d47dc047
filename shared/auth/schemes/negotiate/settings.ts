import * as z from 'zod';

/** The member `negotiate` of the configuration. */
export const negotiateSettings = z.strictObject({
  keytab: z.string().min(1).describe('Keytab file with the keys of the service.'),
  service: z
    .string()
    .regex(/^HTTP@[A-Za-z0-9.-]+$/, 'must be HTTP@ and the host that clients ask for')
    .optional()
    .describe('Name of the service. Default: any service in the keytab.'),
});

export type NegotiateSettings = z.infer<typeof negotiateSettings>;

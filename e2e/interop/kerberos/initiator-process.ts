/**
 * The client's side of GSS-API, in a process of its own because the library takes the tickets from the
 * environment. Arguments: service, mechanism, flags. Each line of standard input is a message of the
 * server in base64, at first an empty one; each line of standard output says what came of it.
 */
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

interface Kerberos {
  initializeClient(
    service: string,
    options: { readonly mechOID: number; readonly flags: number },
  ): Promise<Client>;
}

interface Client {
  step(token: string): Promise<string | null>;
  readonly contextComplete: boolean;
}

const module = new URL(
  '../../../shared/auth/schemes/negotiate/module/package.json',
  import.meta.url,
);
const kerberos = createRequire(module)('kerberos') as Kerberos;

const [service = '', mechanism, flags] = process.argv.slice(2);
const client = await kerberos.initializeClient(service, {
  mechOID: Number(mechanism),
  flags: Number(flags),
});
for await (const message of createInterface({ input: process.stdin })) {
  const token = await client.step(message);
  process.stdout.write(`${JSON.stringify({ token, complete: client.contextComplete })}\n`);
}

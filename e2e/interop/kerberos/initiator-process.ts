/**
 * The client side of GSS-API, in a separate process because the library takes tickets from the environment.
 * Arguments: service, mechanism, flags. Each line of standard input is a server message in base64 (the
 * first line is empty); each line of standard output is the result.
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

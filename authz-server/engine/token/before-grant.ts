import { Provider } from 'oidc-provider';
import type { KoaContextWithOIDC, TokenEndpointGrantContext } from 'oidc-provider';

type Handler<Params extends object> = (
  ctx: TokenEndpointGrantContext<Params>,
) => void | Promise<void>;

/** The engine with `steps` before each handler of a grant, its own ones included; a step that throws refuses. */
export function withStepsBeforeGrant(
  steps: readonly ((ctx: KoaContextWithOIDC) => void | Promise<void>)[],
): typeof Provider {
  return class extends Provider {
    override registerGrantType<Params extends object>(
      name: string,
      handler: Handler<Params>,
      ...rest: [params?: ReadonlySet<string>, duplicates?: ReadonlySet<string>]
    ): void {
      const redeem: Handler<Params> = async (ctx) => {
        for (const step of steps) await step(ctx);
        await handler(ctx);
      };
      super.registerGrantType(name, redeem, ...rest);
    }
  };
}

import type { Prover } from './dpop.ts';
import { type Reply, type Send } from '#shared/client/send.ts';
import { jsonObject } from './http.ts';

export type Form = Readonly<Record<string, string | undefined>>;

/** Posts a form to an endpoint of an authorization server; members that are undefined are left out. */
export type PostForm = (
  url: string,
  form: Form,
  fields?: Readonly<Record<string, string>>,
) => Promise<Reply>;

/**
 * Posts forms, with a DPoP proof when there is a prover. The last nonce of the server goes into the next
 * proof, and a message that was refused for its nonce is sent once more (RFC 9449 sections 8 and 8.2).
 */
export function formPoster(send: Send, prover?: Prover): PostForm {
  let nonce: string | undefined;
  return async (url, form, fields = {}) => {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(form)) {
      if (value !== undefined) params.append(name, value);
    }
    const body = params.toString();
    const post = async () => {
      const proof = prover && { dpop: await prover.proof({ method: 'POST', url, nonce }) };
      const answer = await send({
        method: 'POST',
        url,
        fields: { ...COMMON, ...fields, ...proof },
        body,
      });
      nonce = answer.fields['dpop-nonce'] ?? nonce;
      return answer;
    };
    const answer = await post();
    return prover !== undefined && asksForNonce(answer, url) ? post() : answer;
  };
}

const COMMON = {
  'content-type': 'application/x-www-form-urlencoded',
  accept: 'application/json',
};

function asksForNonce(answer: Reply, url: string): boolean {
  return (
    answer.status === 400 &&
    answer.fields['dpop-nonce'] !== undefined &&
    jsonObject(answer, url)['error'] === 'use_dpop_nonce'
  );
}

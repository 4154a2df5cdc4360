import { z } from 'zod'
import type { OpenedAccount } from '../ask-json.ts'
import type { GuardedHttp } from '../guarded-http.ts'

const Completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
  usage: z
    .object({
      total_tokens: z.int().min(0),
      prompt_tokens: z.int().min(0).optional(),
      completion_tokens: z.int().min(0).optional(),
    })
    .nullish(),
})

/** A language model's answer: a text that nobody vouches for. */
export type ModelAnswer =
  | {
      readonly outcome: 'answered'
      readonly text: string
      readonly tokens: number
      /** The tokens that it read, and those that it wrote; null where it does not say. */
      readonly usage: { readonly read: number; readonly written: number } | null
    }
  /** It has no capacity, or the account none left for now. */
  | { readonly outcome: 'busy'; readonly retryAfterMs: number | undefined }
  /** `mayCost`: it may have done its work all the same, and charge for that. */
  | { readonly outcome: 'unanswered'; readonly reason: string; readonly mayCost: boolean }

export type AskModel = (
  account: OpenedAccount,
  question: {
    readonly instructions: string
    readonly material: string
    /** The same for a repeated question, for models that know repeats. */
    readonly id?: string
    readonly mostTokens?: number
  },
) => Promise<ModelAnswer>

const mostTokensAnswered = 2_000
const defaultModel = 'gpt-4o-mini'

/** Speaks `POST /chat/completions` of OpenAI, as many others do. The account names the model. */
export const openAiCompatible =
  (http: Pick<GuardedHttp, 'request'>): AskModel =>
  async ({ base_url, account, secret }, { instructions, material, id, mostTokens = mostTokensAnswered }) => {
    const exchange = await http.request({
      method: 'POST',
      url: `${base_url}/chat/completions`,
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        ...(id !== undefined && { 'idempotency-key': id }),
      },
      body: JSON.stringify({
        model: account ?? defaultModel,
        temperature: 0,
        max_completion_tokens: mostTokens,
        response_format: { type: 'json_object' },
        messages: [
          { role: 'system', content: instructions },
          { role: 'user', content: material },
        ],
      }),
    })
    if (exchange.outcome !== 'answered') {
      const mayCost = exchange.outcome === 'unanswered' && exchange.wasNotSent !== true
      return { outcome: 'unanswered', reason: 'The reader did not answer.', mayCost }
    }
    const { status, header, body } = exchange
    if (status === 429) return { outcome: 'busy', retryAfterMs: waitOf(header('retry-after')) }
    if (status !== 200)
      return {
        outcome: 'unanswered',
        reason: `The reader answered with status ${status}.`,
        mayCost: mayHaveWorked(status),
      }
    const completion = Completion.safeParse(parsed(body.toString())).data
    const text = completion?.choices[0]?.message.content
    if (text === undefined)
      return { outcome: 'unanswered', reason: 'The reader answered what we do not understand.', mayCost: true }
    const { total_tokens = 0, prompt_tokens, completion_tokens } = completion?.usage ?? {}
    const written = completion_tokens ?? Math.max(0, total_tokens - (prompt_tokens ?? 0))
    const usage = total_tokens > 0 ? { read: prompt_tokens ?? total_tokens - written, written } : null
    return { outcome: 'answered', text, tokens: total_tokens, usage }
  }

/** True where a server that answers so may have done the work: not one that refuses the request, or is overloaded. */
const mayHaveWorked = (status: number): boolean => status < 300 || (status >= 500 && status !== 503)

const waitOf = (seconds: string | undefined): number | undefined =>
  seconds !== undefined && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : undefined

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

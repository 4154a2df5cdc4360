import { z } from 'zod'
import { startStandIn, type StandInAnswer } from './stand-in.ts'

const Asked = z.object({
  model: z.string(),
  max_completion_tokens: z.int(),
  messages: z.array(z.object({ role: z.enum(['system', 'user']), content: z.string() })).min(1),
})
const Material = z.object({
  to: z.string().nullable(),
  subject: z.string().nullable(),
  say: z.string(),
  they_wrote: z.string().nullable(),
})

const completed = (
  content: string,
  tokens: { readonly read: number; readonly written: number } | undefined,
): StandInAnswer => ({
  status: 200,
  body: {
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
    ...(tokens && {
      usage: {
        prompt_tokens: tokens.read,
        completion_tokens: tokens.written,
        total_tokens: tokens.read + tokens.written,
      },
    }),
  },
})

/** The text to be said decides how the model fails. */
const magic: Readonly<Record<string, StandInAnswer>> = {
  '[[unavailable]]': { status: 503, body: { error: { message: 'The server is overloaded' } } },
  '[[rate limit]]': { status: 429, body: { error: { message: 'Rate limit reached', type: 'requests' } } },
  '[[silence]]': 'hang',
  '[[refuse]]': completed('I cannot write that.', { read: 900, written: 100 }),
}

/** Writes, and does not say what it took. */
const withoutUsage = '[[no usage]]'

/** Every draft costs so many tokens, so that costs can be reckoned by hand. */
const usage = { read: 900, written: 100 }

/** Speaks the chat completions of OpenAI and writes what it is told to say. */
export const startDraftWriter = (port?: number) =>
  startStandIn(({ method, url, header, text }) => {
    if (method !== 'POST' || !url.pathname.endsWith('/chat/completions'))
      return { status: 404, body: { error: { message: 'Unknown request' } } }
    if (!header('authorization')?.startsWith('Bearer '))
      return { status: 401, body: { error: { message: 'Incorrect API key provided' } } }
    const asked = Asked.safeParse(JSON.parse(text)).data
    const user = asked?.messages.find(({ role }) => role === 'user')?.content ?? 'null'
    const material = Material.safeParse(JSON.parse(user)).data
    if (!material) return { status: 400, body: { error: { message: 'Invalid request' } } }
    const { to, say, subject, they_wrote } = material
    const failing = Object.keys(magic).find((each) => `${say} ${they_wrote ?? ''}`.includes(each))
    if (failing !== undefined) return magic[failing] ?? 'hang'
    const body = `Dear ${to ?? 'customer'}, ${they_wrote === null ? say : `you wrote: ${they_wrote}`}`
    return completed(JSON.stringify({ subject, body }), say.includes(withoutUsage) ? undefined : usage)
  }, port)

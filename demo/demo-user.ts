import { join } from 'node:path'
import { readFile, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { demoId } from './demo.ts'

const colleague = {
  name: 'Robin Northlight',
  email: 'robin@northlight.example',
  roles: ['owner', 'leads', 'underwriting', 'policies', 'claims', 'finance', 'auditor'],
  sees_personal_data: true,
}

const Users = z.object({ data: z.array(z.object({ id: z.string(), email: z.string().nullable() })) })
const One = z.object({ data: z.object({ id: z.string() }) })
const Made = z.object({ data: z.object({ key: z.string() }) })

/** A key that was replaced since opens nothing. */
const opens = async (origin: string, key: string): Promise<boolean> =>
  (await fetch(`${origin}/admin/v1/session`, { headers: { authorization: `Bearer ${key}` } })).ok

/** The key of a colleague with all roles of the demo organisation, with which to sign in. Made at the first start, and kept. */
export const demoUserKey = async (origin: string, operatorKey: string, dataDir: string): Promise<string> => {
  const file = join(dataDir, 'demo-user-key')
  const kept = await readFile(file, 'utf8').catch(() => undefined)
  if (kept !== undefined && (await opens(origin, kept.trim()))) return kept.trim()

  const users = `${origin}/admin/v1/organisations/${await demoId()}/users`
  const ask = async <Schema extends z.ZodType>(schema: Schema, address: string, body?: object) => {
    const response = await fetch(address, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`The user of the demo could not be made: ${await response.text()}`)
    return schema.parse(await response.json())
  }
  const { data: there } = await ask(Users, users)
  const id = there.find(({ email }) => email === colleague.email)?.id ?? (await ask(One, users, colleague)).data.id
  const { key } = (await ask(Made, `${users}/${id}/keys`, {})).data
  await writeFile(file, `${key}\n`, { mode: 0o600 })
  return key
}

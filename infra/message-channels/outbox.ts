import { CannotUnseal, decrypt, encrypt } from '../crypto/aead.ts'
import type { DataKeys } from '../crypto/data-keys.ts'
import { bindingBytes } from '../crypto/seal.ts'
import { subjectOfStream } from '../crypto/subjects.ts'
import type { Database } from '../postgres/lookups.ts'
import { sql } from '../postgres/postgres.ts'
import type { OutgoingMessage, SendResult } from './channel.ts'

type Deps = { readonly pool: Database; readonly dataKeys: Pick<DataKeys, 'of' | 'byId'> }

/** A message of the outbox; what it says is null once its person was erased. */
export type OutboxMessage = {
  readonly id: string
  readonly contact_id: string
  readonly channel: OutgoingMessage['channel']
  readonly sent_at: Date
  readonly asked: number
  readonly content: string | null
}

const bindingOf = (organisation_id: string, id: string): Buffer => bindingBytes([organisation_id, 'outbox', id])

/** Messages that go nowhere: they are kept to be looked at, each once. */
export const makeOutbox = ({ pool, dataKeys }: Deps) => ({
  send: async (message: OutgoingMessage): Promise<SendResult> => {
    const { organisation_id, contact_id, id, channel, sent_at } = message
    const { to, from_name, subject, text, unsubscribe_url, reference } = message
    const subject_of = subjectOfStream(`outreach_person-${contact_id}`, contact_id)
    const { id: key_id, key } = await dataKeys.of({ organisation_id, subject: subject_of })
    const content = JSON.stringify({ to, from_name, subject, text, unsubscribe_url, reference })
    const sealed = encrypt(key, Buffer.from(content), bindingOf(organisation_id, id))
    await pool.query(sql`
      insert into outreach_outbox (organisation_id, id, contact_id, channel, sent_at, key_id, sealed)
      values (${organisation_id}, ${id}, ${contact_id}, ${channel}, ${sent_at}, ${key_id}, ${sealed})
      on conflict (organisation_id, id) do update set asked = outreach_outbox.asked + 1`)
    return { outcome: 'sent', reference: id }
  },

  list: async (
    organisation_id: string,
    before: { readonly at: string; readonly id: string },
    limit: number,
  ): Promise<readonly OutboxMessage[]> => {
    const { rows } = await pool.query<Omit<OutboxMessage, 'content'> & { key_id: string; sealed: Buffer }>(sql`
      select id, contact_id, channel, sent_at, asked, key_id, sealed from outreach_outbox
      where organisation_id = ${organisation_id} and (sent_at, id) < (${before.at}, ${before.id})
      order by sent_at desc, id desc limit ${limit}`)
    const keys = await dataKeys.byId(new Set(rows.map(({ key_id }) => key_id)))
    return rows.map(({ key_id, sealed, ...message }) => {
      const key = keys.get(key_id)
      if (key instanceof CannotUnseal) throw key
      const isReadable = key !== undefined && key !== 'erased'
      const content = isReadable ? decrypt(key, sealed, bindingOf(organisation_id, message.id)).toString() : null
      return { ...message, content }
    })
  },
})
export type Outbox = ReturnType<typeof makeOutbox>

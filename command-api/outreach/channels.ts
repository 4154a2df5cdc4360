import type { Provider } from '#domain/provider-accounts/events.ts'
import { OrganisationId } from '#domain/values.ts'
import type { OpenedAccount } from '#infra/ask-json.ts'
import type { GuardedHttp } from '#infra/guarded-http.ts'
import type { OutgoingMessage, SendResult } from '#infra/message-channels/channel.ts'
import { sendByGateway } from '#infra/message-channels/gateway.ts'
import type { Outbox } from '#infra/message-channels/outbox.ts'
import type { SendMail } from '#infra/message-channels/smtp.ts'

export type OpenAccount = (organisation_id: OrganisationId, provider: Provider) => OpenedAccount | undefined

type Deps = {
  readonly openAccount: OpenAccount
  readonly http: Pick<GuardedHttp, 'request'>
  readonly sendMail: SendMail
  /** Outside production: what an organisation has no account for goes there. */
  readonly outbox: Outbox | undefined
}

export type SendMessage = (message: OutgoingMessage) => Promise<SendResult>

/** Sends by the organisation's own account: emails by its mail server, all else by its message gateway. */
export const makeChannels =
  ({ openAccount, http, sendMail, outbox }: Deps): SendMessage =>
  async (message) => {
    const organisation_id = OrganisationId.parse(message.organisation_id)
    const mail = message.channel === 'email' ? openAccount(organisation_id, 'smtp') : undefined
    if (mail) return sendMail(mail, message)
    const gateway = openAccount(organisation_id, 'message_gateway')
    if (gateway) return sendByGateway(http, gateway, message)
    if (outbox) return outbox.send(message)
    return { outcome: 'refused', reason: `the organisation has no account for ${message.channel}` }
  }

-- Earlier versions sealed the files of a person under a key of its own, named by the bare id, which erasing the person left.
update data_key as of_files
set sealed = null, organisation_key_version = null, erased_at = of_person.erased_at
from data_key as of_person
where of_person.organisation_id = of_files.organisation_id
  and of_person.subject = 'person:' || of_files.subject
  and of_person.erased_at is not null
  and of_files.erased_at is null;

import django.contrib.postgres.functions
import django.db.models.deletion
import django.db.models.functions.datetime
import jobs.ids
import jobs.models.office
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Counter',
            fields=[
                ('name', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='name')),
                ('value', models.BigIntegerField(default=0, verbose_name='value')),
            ],
            options={
                'verbose_name': 'counter',
                'verbose_name_plural': 'counters',
                'db_table': 'engine_counters',
            },
        ),
        migrations.CreateModel(
            name='Office',
            fields=[
                ('id', models.UUIDField(default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='made at')),
                ('max_concurrent_jobs', models.PositiveIntegerField(default=3, verbose_name='jobs at once')),
                ('max_concurrent_by_role', models.JSONField(blank=True, default=jobs.models.office.default_role_limits, verbose_name='jobs at once by role')),
                ('default_timeout_ms', models.PositiveIntegerField(default=1800000, verbose_name='time limit (ms)')),
                ('default_timeout_by_role', models.JSONField(blank=True, default=jobs.models.office.default_role_timeouts, verbose_name='time limits by role (ms)')),
                ('max_retries', models.PositiveIntegerField(default=2, verbose_name='retries at most')),
                ('retry_backoff', models.CharField(choices=[('linear', 'Linear'), ('exponential', 'Exponential')], default='exponential', max_length=12, verbose_name='delays grow')),
                ('retry_base_delay_ms', models.PositiveIntegerField(default=60000, verbose_name='first delay (ms)')),
                ('retryable_failures', models.JSONField(blank=True, default=jobs.models.office.default_retryable_failures, verbose_name='tried again after')),
                ('paused', models.BooleanField(default=False, verbose_name='paused')),
                ('notify_emails', models.JSONField(blank=True, default=list, verbose_name='mail addresses')),
                ('has_webhooks', models.BooleanField(db_column='hooked', default=False, editable=False, verbose_name='has webhooks')),
                ('watched_until', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='watched until')),
            ],
            options={
                'verbose_name': 'office',
                'verbose_name_plural': 'offices',
                'db_table': 'offices',
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Execution',
            fields=[
                ('id', models.UUIDField(default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id', db_default=django.contrib.postgres.functions.RandomUUID())),
                ('task_id', models.CharField(max_length=200, verbose_name='Task')),
                ('role', models.CharField(max_length=64, verbose_name='role', db_default='default')),
                ('trigger', models.CharField(choices=[('JOB', 'Job'), ('SCHEDULE', 'Schedule'), ('MANUAL', 'Manual'), ('WORKFLOW', 'Workflow'), ('STEP', 'Step'), ('EXPORT', 'Export')], max_length=10, verbose_name='trigger', db_default='MANUAL')),
                ('office_id', models.UUIDField(blank=True, null=True, verbose_name='office')),
                ('source', models.CharField(blank=True, max_length=80, verbose_name='caused by', db_default='')),
                ('args', models.JSONField(default=dict, verbose_name='arguments', db_default=models.Value({}, models.JSONField()))),
                ('status', models.CharField(choices=[('PENDING', 'Pending'), ('RUNNING', 'Running'), ('SUCCESS', 'Success'), ('FAILED', 'Failed'), ('CANCELLED', 'Cancelled')], default='PENDING', max_length=10, verbose_name='status', db_default='PENDING')),
                ('dispatch', models.IntegerField(default=1, verbose_name='messages', db_default=1)),
                ('dispatched_at', models.DateTimeField(blank=True, null=True, verbose_name='sent at')),
                ('sent_at', models.DateTimeField(blank=True, null=True, verbose_name='last sent at')),
                ('sent_count', models.IntegerField(default=0, verbose_name='times sent', db_default=0)),
                ('due_at', models.DateTimeField(blank=True, null=True, verbose_name='due at', db_default=django.db.models.functions.datetime.Now())),
                ('fence', models.BigIntegerField(default=0, verbose_name='fence', db_default=0)),
                ('token', models.CharField(blank=True, max_length=80, verbose_name='token', db_default='')),
                ('worker', models.CharField(blank=True, max_length=200, verbose_name='worker', db_default='')),
                ('locked_until', models.DateTimeField(blank=True, null=True, verbose_name='lease until')),
                ('attempt', models.IntegerField(default=0, verbose_name='attempt', db_default=0)),
                ('retry_count', models.IntegerField(default=0, verbose_name='retries', db_default=0)),
                ('crash_count', models.IntegerField(default=0, verbose_name='workers lost', db_default=0)),
                ('max_retries', models.IntegerField(default=3, verbose_name='retries at most', db_default=3)),
                ('retry_backoff', models.CharField(choices=[('linear', 'Linear'), ('exponential', 'Exponential')], default='exponential', max_length=12, verbose_name='delays grow', db_default='exponential')),
                ('retry_base_delay_ms', models.BigIntegerField(default=60000, verbose_name='first delay (ms)', db_default=60000)),
                ('timeout_ms', models.BigIntegerField(default=1800000, verbose_name='time limit (ms)', db_default=1800000)),
                ('on_lost', models.CharField(choices=[('retry', 'Retry'), ('fail', 'Fail')], default='retry', max_length=8, verbose_name='when its worker is lost', db_default='retry')),
                ('created_at', models.DateTimeField(verbose_name='made at', db_default=django.db.models.functions.datetime.Now())),
                ('scheduled_for', models.DateTimeField(blank=True, null=True, verbose_name='scheduled for')),
                ('started_at', models.DateTimeField(blank=True, null=True, verbose_name='started at')),
                ('attempt_started_at', models.DateTimeField(blank=True, null=True, verbose_name='attempt started at')),
                ('timeout_at', models.DateTimeField(blank=True, null=True, verbose_name='time limit ends at')),
                ('finished_at', models.DateTimeField(blank=True, null=True, verbose_name='ended at')),
                ('cancel_requested_at', models.DateTimeField(blank=True, null=True, verbose_name='told to stop at')),
                ('result', models.JSONField(blank=True, null=True, verbose_name='result')),
                ('failure_type', models.CharField(blank=True, choices=[('timeout', 'Timeout'), ('session_error', 'Session Error'), ('worker_lost', 'Worker Lost'), ('error', 'Error'), ('git_conflict', 'Git Conflict'), ('permission_error', 'Permission Error'), ('dependency_failed', 'Dependency Failed'), ('invalid_args', 'Invalid Args'), ('cancelled', 'Cancelled'), ('poison', 'Poison')], max_length=20, verbose_name='failed because', db_default='')),
                ('error', models.TextField(blank=True, verbose_name='error', db_default='')),
                ('progress', models.JSONField(blank=True, null=True, verbose_name='progress')),
                ('session_id', models.CharField(blank=True, max_length=100, verbose_name='session', db_default='')),
            ],
            options={
                'verbose_name': 'run',
                'verbose_name_plural': 'runs',
                'db_table': 'job_executions',
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('operator', 'Operator'), ('owner', 'Owner')], default='operator', max_length=12, verbose_name='role')),
            ],
            options={
                'verbose_name': 'member',
                'verbose_name_plural': 'members',
                'db_table': 'office_members',
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('name', models.CharField(max_length=200, primary_key=True, serialize=False, verbose_name='name')),
                ('roles', models.JSONField(default=list, verbose_name='roles')),
                ('slots', models.IntegerField(default=1, verbose_name='slots')),
                ('running', models.IntegerField(default=0, verbose_name='running')),
                ('draining', models.BooleanField(default=False, verbose_name='draining')),
                ('started_at', models.DateTimeField(verbose_name='started at')),
                ('seen_at', models.DateTimeField(verbose_name='last heard of at')),
            ],
            options={
                'verbose_name': 'worker',
                'verbose_name_plural': 'workers',
                'db_table': 'workers',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='ServedRole',
            fields=[
                ('role', models.CharField(max_length=64, primary_key=True, serialize=False, verbose_name='role')),
                ('until', models.DateTimeField(verbose_name='served until')),
            ],
            options={
                'verbose_name': 'served role',
                'verbose_name_plural': 'served roles',
                'db_table': 'served_roles',
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('prefix', models.CharField(editable=False, max_length=16, verbose_name='begins with')),
                ('digest', models.CharField(editable=False, max_length=64, unique=True, verbose_name='digest')),
                ('created_at', models.DateTimeField(verbose_name='made at')),
                ('last_used_at', models.DateTimeField(blank=True, null=True, verbose_name='last used at')),
                ('expires_at', models.DateTimeField(blank=True, null=True, verbose_name='expires at')),
                ('revoked_at', models.DateTimeField(blank=True, null=True, verbose_name='revoked at')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'API token',
                'verbose_name_plural': 'API tokens',
                'db_table': 'api_tokens',
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('office_id', models.UUIDField(verbose_name='office')),
                ('job_id', models.UUIDField(null=True, verbose_name='job')),
                ('batch_id', models.UUIDField(null=True, verbose_name='batch')),
                ('type', models.CharField(choices=[('job_ready', 'Job Ready'), ('job_started', 'Job Started'), ('job_completed', 'Job Completed'), ('job_failed', 'Job Failed'), ('job_timeout', 'Job Timeout'), ('job_retrying', 'Job Retrying'), ('job_cancelled', 'Job Cancelled'), ('batch_completed', 'Batch Completed'), ('workflow_run_failed', 'Workflow Run Failed'), ('job_reprioritised', 'Job Reprioritised')], max_length=20, verbose_name='what happened')),
                ('details', models.JSONField(default=dict, verbose_name='details')),
                ('at', models.DateTimeField(verbose_name='time')),
            ],
            options={
                'verbose_name': 'event',
                'verbose_name_plural': 'events',
                'db_table': 'job_events',
                'indexes': [models.Index(fields=['office_id', 'id'], name='events_of_office')],
            },
        ),
        migrations.CreateModel(
            name='EventCursor',
            fields=[
                ('office', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='jobs.office', verbose_name='office')),
                ('event_id', models.BigIntegerField(default=0, verbose_name='event')),
            ],
            options={
                'verbose_name': 'notification cursor',
                'verbose_name_plural': 'notification cursors',
                'db_table': 'notice_cursors',
            },
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.UUIDField(default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id')),
                ('name', models.CharField(blank=True, max_length=200, verbose_name='name')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='made at')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended at')),
                ('input', models.JSONField(blank=True, null=True, verbose_name='input')),
                ('scheduled_for', models.DateTimeField(blank=True, null=True, verbose_name='scheduled for')),
                ('office', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='jobs.office', verbose_name='office')),
            ],
            options={
                'verbose_name': 'batch',
                'verbose_name_plural': 'batches',
                'db_table': 'job_batches',
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.IntegerField(verbose_name='no.')),
                ('started_at', models.DateTimeField(verbose_name='started at')),
                ('timeout_at', models.DateTimeField(verbose_name='time limit ends at')),
                ('ended_at', models.DateTimeField(verbose_name='ended at')),
                ('outcome', models.CharField(choices=[('success', 'Success'), ('failure', 'Failure'), ('timeout', 'Timeout'), ('cancelled', 'Cancelled'), ('lost', 'Lost')], max_length=12, verbose_name='outcome')),
                ('failure_type', models.CharField(blank=True, max_length=20, verbose_name='failed because')),
                ('error', models.TextField(blank=True, verbose_name='error')),
                ('traceback', models.TextField(blank=True, db_default='', verbose_name='traceback')),
                ('worker', models.CharField(blank=True, max_length=200, verbose_name='worker')),
                ('token', models.CharField(blank=True, max_length=80, verbose_name='token')),
                ('session_id', models.CharField(blank=True, db_default='', max_length=100, verbose_name='session')),
                ('execution', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='jobs.execution', verbose_name='run')),
            ],
            options={
                'verbose_name': 'attempt',
                'verbose_name_plural': 'attempts',
                'db_table': 'job_attempts',
                'ordering': ['execution', 'number'],
            },
        ),
        migrations.CreateModel(
            name='IdempotentAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.TextField(verbose_name='path')),
                ('key', models.CharField(max_length=200, verbose_name='key')),
                ('digest', models.CharField(max_length=64, verbose_name='digest')),
                ('status', models.PositiveSmallIntegerField(null=True, verbose_name='answered with')),
                ('body', models.TextField(blank=True, verbose_name='answer')),
                ('location', models.TextField(blank=True, verbose_name='location')),
                ('created_at', models.DateTimeField(db_index=True, verbose_name='made at')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'remembered answer',
                'verbose_name_plural': 'remembered answers',
                'db_table': 'idempotent_answers',
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=jobs.ids.uuid7, editable=False, primary_key=True, serialize=False, verbose_name='id', db_default=django.contrib.postgres.functions.RandomUUID())),
                ('seq', models.BigIntegerField(editable=False, verbose_name='order')),
                ('ref', models.CharField(blank=True, max_length=200, verbose_name='name', db_default='')),
                ('task_id', models.CharField(max_length=200, verbose_name='Task')),
                ('args', models.JSONField(default=dict, verbose_name='arguments', db_default=models.Value({}, models.JSONField()))),
                ('role', models.CharField(max_length=64, verbose_name='role', db_default='default')),
                ('priority', models.IntegerField(default=100, verbose_name='priority', db_default=100)),
                ('urgent', models.BooleanField(default=False, verbose_name='urgent', db_default=False)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('ready', 'Ready'), ('processing', 'Processing'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled'), ('timeout', 'Timeout')], default='pending', max_length=12, verbose_name='status', db_default='pending')),
                ('on_dependency_failure', models.CharField(choices=[('block', 'Block'), ('fail', 'Fail'), ('run', 'Run')], default='block', max_length=8, verbose_name='when a dependency fails', db_default='block')),
                ('dependency_count', models.IntegerField(default=0, verbose_name='dependencies', db_default=0)),
                ('timeout_ms', models.BigIntegerField(verbose_name='time limit (ms)', db_default=1800000)),
                ('max_retries', models.IntegerField(verbose_name='retries at most', db_default=2)),
                ('retry_backoff', models.CharField(choices=[('linear', 'Linear'), ('exponential', 'Exponential')], max_length=12, verbose_name='delays grow', db_default='exponential')),
                ('retry_base_delay_ms', models.BigIntegerField(verbose_name='first delay (ms)', db_default=60000)),
                ('retry_count', models.IntegerField(default=0, verbose_name='retries', db_default=0)),
                ('on_lost', models.CharField(choices=[('retry', 'Retry'), ('fail', 'Fail')], default='retry', max_length=8, verbose_name='when its worker is lost', db_default='retry')),
                ('trigger', models.CharField(choices=[('JOB', 'Job'), ('SCHEDULE', 'Schedule'), ('MANUAL', 'Manual'), ('WORKFLOW', 'Workflow'), ('STEP', 'Step'), ('EXPORT', 'Export')], default='JOB', max_length=10, verbose_name='trigger', db_default='JOB')),
                ('run_at', models.DateTimeField(blank=True, null=True, verbose_name='not before')),
                ('retry_at', models.DateTimeField(blank=True, null=True, verbose_name='next attempt at')),
                ('due_at', models.DateTimeField(blank=True, null=True, verbose_name='due at')),
                ('unique_key', models.CharField(blank=True, max_length=200, verbose_name='unique key', db_default='')),
                ('submissions', models.JSONField(blank=True, null=True, verbose_name='submitted jobs')),
                ('created_at', models.DateTimeField(verbose_name='submitted at', db_default=django.db.models.functions.datetime.Now())),
                ('ready_at', models.DateTimeField(blank=True, null=True, verbose_name='ready at')),
                ('queue_timeout_ms', models.BigIntegerField(blank=True, null=True, verbose_name='queue timeout (ms)')),
                ('queue_timeout_at', models.DateTimeField(blank=True, null=True, verbose_name='queue timeout ends at')),
                ('started_at', models.DateTimeField(blank=True, null=True, verbose_name='started at')),
                ('completed_at', models.DateTimeField(blank=True, null=True, verbose_name='ended at')),
                ('cancelled_at', models.DateTimeField(blank=True, null=True, verbose_name='cancelled at')),
                ('failure_type', models.CharField(blank=True, max_length=20, verbose_name='failed because', db_default='')),
                ('error_message', models.TextField(blank=True, verbose_name='error', db_default='')),
                ('ended_before', models.BooleanField(default=False, verbose_name='ended before', db_default=False)),
                ('batch', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='jobs.batch', verbose_name='batch')),
                ('execution', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='jobs.execution', verbose_name='run')),
                ('office', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='jobs.office', verbose_name='office')),
            ],
            options={
                'verbose_name': 'job',
                'verbose_name_plural': 'jobs',
                'db_table': 'job_queue',
            },
        ),
        migrations.AddField(
            model_name='execution',
            name='job',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='executions', to='jobs.job', verbose_name='job'),
        ),
        migrations.CreateModel(
            name='Dependency',
            fields=[
                ('pk', models.CompositePrimaryKey('job_id', 'parent_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('position', models.IntegerField(verbose_name='place')),
                ('job', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='edges_in', to='jobs.job', verbose_name='job')),
                ('parent', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='edges_out', to='jobs.job', verbose_name='waits for')),
            ],
            options={
                'verbose_name': 'dependency',
                'verbose_name_plural': 'dependencies',
                'db_table': 'job_dependencies',
            },
        ),
        migrations.AddField(
            model_name='office',
            name='members',
            field=models.ManyToManyField(related_name='offices', through='jobs.Membership', to=settings.AUTH_USER_MODEL, verbose_name='members'),
        ),
        migrations.AddField(
            model_name='membership',
            name='office',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='jobs.office', verbose_name='office'),
        ),
        migrations.AddField(
            model_name='membership',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL, verbose_name='user'),
        ),
        migrations.CreateModel(
            name='Activity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('actor', models.CharField(blank=True, max_length=150, verbose_name='by')),
                ('act', models.CharField(choices=[('office_created', 'Office Created'), ('office_changed', 'Office Changed'), ('office_paused', 'Office Paused'), ('office_resumed', 'Office Resumed'), ('limits_changed', 'Limits Changed'), ('member_added', 'Member Added'), ('member_changed', 'Member Changed'), ('member_removed', 'Member Removed'), ('webhook_created', 'Webhook Created'), ('webhook_changed', 'Webhook Changed'), ('webhook_rotated', 'Webhook Rotated'), ('webhook_deleted', 'Webhook Deleted')], max_length=30, verbose_name='what happened')),
                ('details', models.JSONField(default=dict, verbose_name='details')),
                ('at', models.DateTimeField(db_index=True, verbose_name='time')),
                ('office', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='activity', to='jobs.office', verbose_name='office')),
            ],
            options={
                'verbose_name': 'activity',
                'verbose_name_plural': 'activity',
                'db_table': 'office_activity',
                'indexes': [models.Index(fields=['office', '-id'], name='activity_of_office')],
            },
        ),
        migrations.CreateModel(
            name='RunLogChunk',
            fields=[
                ('pk', models.CompositePrimaryKey('execution_id', 'seq', blank=True, editable=False, primary_key=True, serialize=False)),
                ('execution_id', models.UUIDField()),
                ('seq', models.BigIntegerField()),
                ('first_seq', models.BigIntegerField()),
                ('level', models.SmallIntegerField()),
                ('size', models.IntegerField()),
                ('lines', models.TextField()),
            ],
            options={
                'db_table': 'run_logs',
            },
        ),
        migrations.CreateModel(
            name='SocketTicket',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False, verbose_name='digest')),
                ('session_key', models.CharField(blank=True, max_length=40, verbose_name='session')),
                ('expires_at', models.DateTimeField(db_index=True, verbose_name='expires at')),
                ('token', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='jobs.apitoken', verbose_name='token')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'socket ticket',
                'verbose_name_plural': 'socket tickets',
                'db_table': 'socket_tickets',
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.URLField(max_length=2000, verbose_name='address')),
                ('secret', models.CharField(editable=False, max_length=200, verbose_name='secret')),
                ('old_secret', models.CharField(blank=True, default='', editable=False, max_length=200, verbose_name='old secret')),
                ('old_secret_until', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='old secret until')),
                ('event_types', models.JSONField(blank=True, default=list, verbose_name='events')),
                ('enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='made at')),
                ('disabled_reason', models.CharField(blank=True, max_length=200, verbose_name='why disabled')),
                ('paused_until', models.DateTimeField(blank=True, db_column='spared_until', editable=False, null=True, verbose_name='paused until')),
                ('office', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='jobs.office', verbose_name='office')),
            ],
            options={
                'verbose_name': 'webhook',
                'verbose_name_plural': 'webhooks',
                'db_table': 'office_webhooks',
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.CharField(blank=True, max_length=320, verbose_name='mail address')),
                ('event_id', models.BigIntegerField(verbose_name='event')),
                ('body', models.TextField(verbose_name='message')),
                ('created_at', models.DateTimeField(verbose_name='made at')),
                ('attempts', models.IntegerField(default=0, verbose_name='attempts')),
                ('next_at', models.DateTimeField(null=True, verbose_name='next attempt at')),
                ('sent_at', models.DateTimeField(null=True, verbose_name='arrived at')),
                ('gave_up_at', models.DateTimeField(null=True, verbose_name='given up at')),
                ('answer', models.CharField(blank=True, max_length=500, verbose_name='answer')),
                ('office', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to='jobs.office', verbose_name='office')),
                ('webhook', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to='jobs.webhook', verbose_name='webhook')),
            ],
            options={
                'verbose_name': 'notification',
                'verbose_name_plural': 'notifications',
                'db_table': 'notices',
            },
        ),
        migrations.AddIndex(
            model_name='batch',
            index=models.Index(models.F('office'), models.OrderBy(models.F('created_at'), descending=True), name='batches_of_office'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(fields=['execution', 'number'], name='attempts_of_execution'),
        ),
        migrations.AddConstraint(
            model_name='idempotentanswer',
            constraint=models.UniqueConstraint(fields=('user', 'path', 'key'), name='one_answer_per_key'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(models.F('office'), models.F('role'), models.OrderBy(models.F('urgent'), descending=True), models.F('priority'), models.F('seq'), condition=models.Q(('status', 'ready')), name='jobs_ready'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('status', 'processing')), fields=['office', 'role'], name='jobs_processing'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('due_at__isnull', False), ('status__in', ('pending', 'timeout'))), fields=['due_at'], name='jobs_due'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('queue_timeout_at__isnull', False), ('status__in', ('ready', 'processing'))), fields=['queue_timeout_at'], name='jobs_queue_timeout'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('status__in', ('pending', 'timeout'))), fields=['office', 'status'], name='jobs_waiting'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('batch__isnull', False), ('status__in', ('pending', 'timeout', 'ready', 'processing'))), fields=['batch'], name='jobs_live_of_batch'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(models.F('office'), models.OrderBy(models.F('seq'), descending=True), name='jobs_of_office'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('batch__isnull', False)), fields=['batch', 'seq'], name='jobs_of_batch'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('completed_at__isnull', False)), fields=['office', 'status', 'completed_at'], name='jobs_ended'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('status__in', ('failed', 'cancelled'))), fields=['id'], name='jobs_unsuccessful'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ('pending', 'timeout', 'ready', 'processing')), models.Q(('unique_key', ''), _negated=True)), fields=('office', 'unique_key'), name='one_live_job_per_unique_key'),
        ),
        migrations.AddIndex(
            model_name='execution',
            index=models.Index(condition=models.Q(('status', 'RUNNING')), fields=['locked_until'], name='executions_leased'),
        ),
        migrations.AddIndex(
            model_name='execution',
            index=models.Index(condition=models.Q(('dispatched_at__isnull', False), ('status', 'PENDING')), fields=['sent_at'], name='executions_sent'),
        ),
        migrations.AddIndex(
            model_name='execution',
            index=models.Index(condition=models.Q(('due_at__isnull', False), ('job__isnull', True), ('status', 'PENDING')), fields=['due_at'], name='executions_due'),
        ),
        migrations.AddIndex(
            model_name='execution',
            index=models.Index(condition=models.Q(('job__isnull', True), ('status__in', ('PENDING', 'RUNNING'))), fields=['task_id', 'trigger'], name='executions_live'),
        ),
        migrations.AddIndex(
            model_name='execution',
            index=models.Index(condition=models.Q(('source', ''), _negated=True), fields=['trigger', 'source', 'id'], name='executions_by_source'),
        ),
        migrations.AddIndex(
            model_name='execution',
            index=models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['finished_at'], name='executions_ended'),
        ),
        migrations.AddIndex(
            model_name='execution',
            index=models.Index(condition=models.Q(('job__isnull', True)), fields=['id'], name='executions_without_job'),
        ),
        migrations.AddConstraint(
            model_name='execution',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ('PENDING', 'RUNNING'))), fields=('job',), name='one_live_execution_per_job'),
        ),
        migrations.AddConstraint(
            model_name='dependency',
            constraint=models.CheckConstraint(condition=models.Q(('job', models.F('parent')), _negated=True), name='no_self_dependency'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('office', 'user'), name='one_membership_per_user'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(condition=models.Q(('next_at__isnull', False)), fields=['next_at'], name='notices_due'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(condition=models.Q(('next_at__isnull', False)), fields=['webhook', 'id'], name='notices_of_webhook'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(fields=['office', '-id'], name='notices_of_office'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(condition=models.Q(('webhook__isnull', True)), fields=['office', 'address', '-id'], name='mails_of_address'),
        ),
        migrations.AddConstraint(
            model_name='notification',
            constraint=models.UniqueConstraint(fields=('event_id', 'webhook', 'address'), name='one_notice_per_event', nulls_distinct=False),
        ),
    ]
